"""What the offline verifier says of rounds that follow the rules, and how it says it, alone."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from tests.unit.scripts.evidence_builder import canonical, category
from tests.unit.scripts.hostile_files import HOSTILE
from tests.unit.scripts.verified_rounds import (
    ROUNDS,
    czech,
    expired,
    jackpot_order,
    nordic,
    push,
    us_casino,
    us_casino_at_once,
)
from tests.unit.scripts.verifier import SCRIPT, event_of, examine, failed, verify

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.unit.scripts.evidence_builder import Maker

GOOD = canonical(us_casino().evidence())


@pytest.mark.parametrize("name", ROUNDS)
def test_a_round_that_follows_the_rules_is_verified(name: str) -> None:
    """Every house, deal source and ending passes when the figures are right."""
    assert failed(ROUNDS[name]().evidence()) == []


def test_the_worked_example_of_the_jackpot_order_pays_what_the_rules_say() -> None:
    """The hand-made example holds the awards of the rules, so that the verifier is tested on these."""
    evidence = jackpot_order().evidence()
    hits = [event["data"] for event in evidence["events"] if event["type"] == "JackpotHit"]
    assert [(hit["seat"], hit["award"]) for hit in hits] == [
        (1, 100_000), (2, 50_000), (3, 425_000), (4, 425_000), (5, 1_000),
    ]  # fmt: skip
    assert failed(evidence) == []


# ── One player's file ───────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "player"),
    [
        ("us_casino", "p-1"), ("nordic", "p-6"), ("evolution_live", "p-17"), ("czech", "p-4"), ("czech",
        "p-1"),
        ("cyber", "p-0"), ("top_up", "p-3"), ("void_after_decisions", "p-2"), ("void_with_empty_meter",
        "p-2"),
        *(("jackpot_order", f"p-{seat}") for seat in range(1, 6)),
    ],
)  # fmt: skip
def test_one_players_file_is_verified_as_far_as_it_goes(name: str, player: str) -> None:
    """What is withheld is neither refuted nor needed for the player's own figures."""
    case = examine(ROUNDS[name]().evidence(player))
    assert case.verdict() == "verified"
    assert case.open == set()


def test_a_withheld_client_seed_leaves_the_deck_open() -> None:
    """A deck that depends on another player's client seed is neither proved nor refuted, and this is said."""
    case = examine(nordic().evidence("p-3"))
    assert case.verdict() == "verified"
    assert case.result("cards.deck") == "OPEN"
    assert verify.STEPS["cards.deck"] not in verify.report(case)["proved"]


def test_one_players_file_with_another_card_is_refuted() -> None:
    """Where no client seed is withheld, the player's own cards are still compared with the deck."""
    evidence = czech().evidence("p-1")
    dealt = event_of(evidence, "Dealt")["data"]
    dealt["cards"][0] = next(card for card in verify.DECK if card not in str(evidence))
    assert "cards.deck" in failed(evidence)


@pytest.mark.parametrize("player", ["p-2", "somebody"])
def test_one_players_file_shows_nobody_else(player: str) -> None:
    """A file for one player that shows another's events, or has no seat of that player, is refuted."""
    assert failed({**us_casino().evidence(), "player": player}) == ["order.seats"]


def test_nothing_is_withheld_from_everybodys_file() -> None:
    """An event cannot be left out of a whole file by calling it withheld."""
    evidence = us_casino().evidence()
    event = event_of(evidence, "SideBetPlaced")
    evidence["events"][event["version"] - 1] = {
        **{name: event[name] for name in ("position", "stream", "version")},
        "withheld": True,
        "leaf_sha256": "0" * 64,
    }
    assert failed(evidence) == ["order.places"]


def test_a_share_of_the_whole_meter_must_restart_it_when_nothing_is_left() -> None:
    """In one player's file the last share is known by what it leaves, and has to bring the reset."""
    evidence = jackpot_order().evidence("p-4")
    assert "restart" in event_of(evidence, "JackpotHit")["data"]
    del event_of(evidence, "JackpotHit")["data"]["restart"]
    assert "jackpot.awards" in failed(evidence)


@pytest.mark.parametrize(
    ("made", "note"),
    [
        (us_casino, "before_stake"), (us_casino_at_once, "same_command"), (expired, "no stake"),
        (push, "no commitment: a physical table dealt"),
    ],
)  # fmt: skip
def test_it_says_when_the_commitment_was_made(made: Callable[[], Maker], note: str) -> None:
    """The reader learns whether the deck was fixed before the stakes' command, with it, or not at all."""
    assert examine(made().evidence()).notes["cards.commitment"] == note


# ── Ranking ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("cards", "name"),
    [
        ("As Ks Qs Js Ts", "royal_flush"), ("5s 4s 3s 2s As", "straight_flush"), ("9h 9c 9d 9s 2c",
        "four_of_a_kind"),
        ("2c 2d 2h Ks Kd", "full_house"), ("2c 5c 9c Jc Ac", "flush"), ("Ah Kd Qs Jc Th", "straight"),
        ("5h 4d 3s 2c Ah", "straight"), ("2h Ad Ks Qc Jh", "high_card"), ("3h 2d As Kc Qh", "high_card"),
        ("7h 7d 7s 2c 3h", "three_of_a_kind"), ("7h 7d 2s 2c 3h", "two_pair"), ("7h 7d 2s 4c 3h", "pair"),
        ("7h 7d 2s 4c 3h 7s", "three_of_a_kind"), ("As Ks Qs Js Ts 9s", "royal_flush"),
    ],
)  # fmt: skip
def test_hands_have_their_categories(cards: str, name: str) -> None:
    """Wheels are straights, nothing wraps around, and six cards count for their best five."""
    assert verify.category(cards.split()) == name == category(cards.split())


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ("6c 6d 5c 5d 3h", "6h 6s 5h 5s 2h"), ("Ah Kd 9s 5c 3d", "Ad Kh 9c 5s 2d"), ("6h 5d 4s 3c 2h",
        "5h 4d 3s 2c Ah"),
        ("3c 3d 3h 2s 2d", "2c 2h 2s Kd Ks"), ("Ac Ad 4h 3s 2d", "Kc Kd Ah Qs Jd"), ("7c 5c 4c 3c 2c",
        "Ah Kd Qs Jc Th"),
    ],
)  # fmt: skip
def test_hands_of_one_category_are_compared_by_all_their_cards(better: str, worse: str) -> None:
    """Kickers count to the last one, suits never."""
    assert verify.rank(better.split()) > verify.rank(worse.split())
    clubs_for_spades = str.maketrans("cs", "sc")
    assert verify.rank(better.split()) == verify.rank(better.translate(clubs_for_spades).split())


@pytest.mark.parametrize(
    ("cards", "least", "plays"),
    [
        ("Ah Kd 4s 3c 2h", "ace_king", True), ("Ah Qd Js Tc 9h", "ace_king", False), ("2h 2d 3s 4c 5h",
        "ace_king", True),
        ("2h 2d 3s 4c 5h", "pair", True), ("Ah Kd Qs Jc 9h", "pair", False), ("2h 2d 3s 3c 5h",
        "three_of_a_kind", False),
    ],
)  # fmt: skip
def test_the_dealer_qualifies_from_the_least_hand_on(cards: str, least: str, plays: bool) -> None:  # noqa: FBT001
    """A-K-4-3-2 plays and A-Q-J-10-9 does not; a house may ask for a category."""
    game = verify.Round({"ruleset": {"qualify": least}})
    place = {"version": 1, "position": 1}
    game.once["DealerQualified"] = verify.Event({**place, "data": {"cards": cards.split()}})
    assert game.plays() is plays


# ── On its own ──────────────────────────────────────────────────────────────────────────────────────────────


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run the verifier alone: isolated, copied to an empty folder, with no environment."""
    (folder / "verify.py").write_bytes(SCRIPT.read_bytes())
    command = [sys.executable, "-I", "verify.py", *arguments]
    return subprocess.run(command, cwd=folder, env={}, capture_output=True, check=False, timeout=60)


def test_it_runs_alone_and_says_what_it_proved(tmp_path: Path) -> None:
    """A copy in an empty folder verifies a file and ends with the three lists and the verdict."""
    (tmp_path / "hand.json").write_bytes(GOOD)
    done = run(tmp_path, "hand.json")
    assert (done.returncode, done.stderr) == (0, b"")
    text = done.stdout.decode("ascii")
    titles = ("PROVED FROM THIS FILE", "RECORDED BUT NOT DERIVABLE FROM IT", "NOT COVERED", "VERIFIED")
    assert [line for line in text.splitlines() if line in titles] == list(titles)
    assert [line.split()[1] for line in text.splitlines() if line[:6] in ("PASS  ", "NONE  ")] == list(
        verify.STEPS
    )


def test_a_refuted_file_gets_exit_1_and_the_difference(tmp_path: Path) -> None:
    """The output names the event, what was expected and what was found."""
    evidence = us_casino().evidence()
    event_of(evidence, "SideBetPlaced")["data"]["contribution"] = "71"
    (tmp_path / "hand.json").write_bytes(canonical(evidence))
    done = run(tmp_path, "hand.json")
    assert done.returncode == 1
    assert b'event 3 (SideBetPlaced_jackpot, seat 1): contribution: expected "70", found "71"' in done.stdout
    assert done.stdout.endswith(b"REFUTED stakes\n")


@pytest.mark.parametrize("name", ["not JSON", "deep lists", "deep objects", "a lone surrogate", "not UTF-8"])
def test_an_unusable_file_gets_exit_2_and_one_line(tmp_path: Path, name: str) -> None:
    """There is a reason in one line and no traceback."""
    (tmp_path / "hand.json").write_bytes(HOSTILE[name])
    done = run(tmp_path, "hand.json")
    assert (done.returncode, done.stderr) == (2, b"")
    assert done.stdout.startswith(b"UNUSABLE ")
    assert done.stdout.count(b"\n") == 1


@pytest.mark.parametrize("name", ["absent.json", "."])
def test_a_file_that_cannot_be_opened_gets_exit_2(tmp_path: Path, name: str) -> None:
    """A missing file and a folder are unusable too."""
    done = run(tmp_path, name)
    assert (done.returncode, done.stderr) == (2, b"")


def test_json_and_quiet_are_for_machines(tmp_path: Path) -> None:
    """`--json` gives every check with its result; `--quiet` gives the verdict alone."""
    (tmp_path / "hand.json").write_bytes(GOOD)
    report = json.loads(run(tmp_path, "hand.json", "--json").stdout)
    assert report["verdict"] == "verified"
    assert {check["result"] for check in report["checks"].values()} == {"PASS", "NONE"}
    assert run(tmp_path, "hand.json", "--quiet").stdout == b"VERIFIED\n"


def test_what_a_file_says_cannot_drive_the_terminal(tmp_path: Path) -> None:
    """Control characters of a hostile file are printed escaped."""
    evidence = us_casino().evidence()
    evidence["events"][0]["data"]["\x1b[2J\u202e"] = "\x1b[31m"
    (tmp_path / "hand.json").write_bytes(canonical(evidence))
    done = run(tmp_path, "hand.json")
    assert done.returncode == 1
    assert b"\x1b" not in done.stdout
    assert done.stdout.isascii()
