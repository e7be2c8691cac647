"""What stands beside exact odds about other hands, and the command that estimates it from more rounds."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from api.cli import odds as command
from domain.odds.basis import Basis
from domain.odds.document import document
from domain.odds.house import HouseOdds, TableSettings, house_odds, rules_for
from domain.odds.notes import notes
from domain.odds.payoffs import Payoffs
from infrastructure.odds import computing
from infrastructure.odds.shelf import Shelf
from tests.unit.domain.odds.counted import BUYING, STANDARD, shipped

ROUNDS = 300


@pytest.fixture(autouse=True)
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Estimate from few rounds, in two portions."""
    monkeypatch.setattr(computing, "SAMPLE_ROUNDS", ROUNDS)
    monkeypatch.setattr(computing, "PORTION_ROUNDS", 200)


@pytest.fixture(scope="module")
def folder(basis: Basis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf's folder where the basis is kept."""
    path = tmp_path_factory.mktemp("odds")
    computing.keep_basis(Shelf(path), basis)
    return path


def house(name: str) -> HouseOdds:
    """Return a house's odds without an estimate."""
    ruleset = shipped(name)
    rules = rules_for(ruleset, ruleset.currencies[0], TableSettings())
    outcomes = BUYING if rules.exchange_fee_antes else STANDARD
    return house_odds(rules, 1_000, Payoffs.from_rules(rules, 1_000), outcomes)


def note(odds: HouseOdds) -> str | None:
    """Return what is said of other hands."""
    return dict(notes(odds)).get("other_hands_seen")


def test_an_estimate_is_made_once_and_said_beside_the_odds(tmp_path: Path) -> None:
    """From the shelf it is the same, in the note and in the document, and nothing is played again."""
    told: list[str] = []
    first, second = (
        computing.with_other_hands(house("cyber"), Shelf(tmp_path), told.append) for _ in range(2)
    )
    assert first.other_hands == second.other_hands
    assert len(told) == 1
    found = first.other_hands
    assert found is not None
    assert (found.hands, found.rounds) == (3, ROUNDS)
    assert 0 < found.per_ante < 0.05
    assert f"about {100 * found.per_ante:.2f} % of each ante (standard error" in (note(first) or "")
    value = document(first)["other_hands"]
    assert value["gain"] == {"dec": f"{found.per_ante:.6f}"}
    assert (value["estimated"], value["denominator"], value["rounds"]) == (True, "ante", ROUNDS)
    assert document(house("cyber"))["other_hands"] is None


@pytest.mark.parametrize("name", ["nordic", "evolution-live", "czech"])
def test_where_no_other_hand_is_seen_nothing_is_said(name: str) -> None:
    """One's own cards, or the one hand of all."""
    odds = computing.with_other_hands(house(name), None)
    assert odds.other_hands is None
    assert note(odds) is None


def test_where_a_card_can_be_exchanged_it_is_said_that_nothing_is_estimated() -> None:
    """Players who see each other's cards and can buy one."""
    czech = house("czech")
    seen = replace(czech, rules=replace(czech.rules, player_cards_down=False))
    odds = computing.with_other_hands(seen, None)
    assert odds.other_hands is None
    assert (note(odds) or "").endswith("It is not estimated here.")


def ask(folder: Path, capture: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    """Return what a run of the command answers: status and both outputs."""
    status = command.main([*arguments, "--cache", str(folder)])
    return status, *capture.readouterr()


def test_the_command_estimates_from_as_many_rounds_as_asked(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the rounds of the note, and no seed named, what the note says; with another seed not."""
    value = json.loads(ask(folder, capsys, "cyber", "--other-hands", str(ROUNDS), "--json")[1])
    beside = json.loads(ask(folder, capsys, "cyber", "--json")[1])["other_hands"]
    assert {name: value[name] for name in beside} == beside
    assert (value["ruleset"]["id"], value["seed"]) == ("cyber", 1)
    status, text, errors = ask(folder, capsys, "cyber", "--other-hands", str(ROUNDS), "--seed", "2")
    assert status == 0
    assert f"(cyber): {ROUNDS} rounds of 3 hands, seed 2" in text
    assert "94.7757 %" in text
    assert f"{100 * float(value['gain']['dec']):.4f} %" not in text
    assert f"{ROUNDS} of {ROUNDS} rounds" in errors


def test_a_house_where_no_other_hand_is_seen_is_one_sentence(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """With exit status 1."""
    status, text, errors = ask(folder, capsys, "nordic", "--other-hands", "50")
    assert (status, text) == (1, "")
    assert errors == "stud-ledger: players of nordic see no other hand\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("--other-hands", "1"),
        ("--other-hands", "5", "--seed", "-1"),
        ("--other-hands", "5", "--processes", "2"),
        ("--other-hands", "5", "--monte-carlo", "5"),
    ],
)
def test_arguments_that_make_no_sense_end_with_2(
    arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """Said by the parser."""
    with pytest.raises(SystemExit) as ended:
        command.main(["cyber", *arguments])
    assert ended.value.code == 2
    assert "scripts/odds: error:" in capsys.readouterr().err
