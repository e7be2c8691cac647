"""Exact odds of rule sets, with what takes long to count kept on a shelf."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest

from domain.odds.basis import Basis
from domain.odds.exchange_values import ExchangeValues
from domain.odds.house import HouseOdds, TableSettings, rules_for
from domain.odds.payoffs import OddsError, Payoffs
from domain.odds.side_bets import SideBetFigures
from domain.rulesets.schema import RuleSet
from infrastructure.odds.computing import (
    basis_of,
    engine,
    exchange_values_of,
    keep_basis,
    keep_exchange,
    odds_of,
)
from infrastructure.odds.shelf import Shelf
from tests.unit.domain.odds.counted import BUYING, STANDARD, shipped


@pytest.fixture(scope="module")
def folder(basis: Basis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf's folder where the basis is kept."""
    path = tmp_path_factory.mktemp("odds")
    keep_basis(Shelf(path), basis)
    return path


@pytest.fixture
def told() -> list[str]:
    """Return where sentences about long counting are collected."""
    return []


def compute(house: RuleSet, folder: Path, told: list[str], ante: int = 1_000) -> HouseOdds:
    """Compute a house's odds in its first currency, with a shelf that has nothing in memory."""
    return odds_of(house, house.currencies[0], ante, TableSettings(), Shelf(folder), told.append)


def changed(house: RuleSet, **parts: dict[str, object]) -> RuleSet:
    """Return a rule set with fields of its parts changed."""
    updates = {name: getattr(house, name).model_copy(update=fields) for name, fields in parts.items()}
    return house.model_copy(update=updates)


@pytest.mark.parametrize(
    ("house", "expected"),
    [
        ("nordic", Fraction(-142031221, 2718662100)),
        ("evolution-live", Fraction(-184565677343, 4983307629300)),
    ],
)
def test_a_game_has_the_known_odds(house: str, expected: Fraction, folder: Path, told: list[str]) -> None:
    """Everything that happens is counted as it is known from elsewhere, from the basis on the shelf."""
    odds = compute(shipped(house), folder, told)
    assert odds.figures.per_ante.expected == expected
    assert odds.outcomes.kept == STANDARD.kept
    assert told == []


def test_five_plus_one_is_counted_with_the_game(folder: Path, told: list[str]) -> None:
    """001 states 91.44 %."""
    five = compute(shipped("evolution-live"), folder, told).side_bets["five_plus_one"]
    assert isinstance(five, SideBetFigures)
    assert five.per_stake.returned == Fraction(136879, 149695)


def test_a_cap_makes_a_game_of_its_own(folder: Path, told: list[str]) -> None:
    """At an ante of 100 dollars the cap of the United States takes from what the strongest hands win."""
    free, capped = (compute(shipped("us-casino"), folder, told, ante) for ante in (2_500, 10_000))
    assert free.figures.per_ante.expected == Fraction(-142031221, 2718662100)
    lost = 16759740 * 150 + 156929720 * 50
    assert capped.figures.per_ante.expected == free.figures.per_ante.expected - Fraction(lost, STANDARD.total)
    assert capped.cap.cut == ("royal_flush", "straight_flush")


def test_what_was_counted_is_read_again(basis: Basis, tmp_path: Path, told: list[str]) -> None:
    """Stakes of the same proportions are one game, and its outcomes are as they were."""
    keep_basis(Shelf(tmp_path), basis)
    first = compute(shipped("us-casino"), tmp_path, told, 1_000)
    files = sorted(tmp_path.iterdir())
    for path in files:
        if path.name.startswith("basis"):
            path.unlink()
    again = compute(shipped("nordic"), tmp_path, told, 777)
    assert again.outcomes == first.outcomes
    assert told == []
    assert len(files) == 2


def test_damaged_outcomes_are_counted_again(folder: Path, told: list[str]) -> None:
    """And are kept again, whole."""
    first = compute(shipped("nordic"), folder, told)
    whole = {path: path.read_bytes() for path in folder.glob("outcomes-*")}
    for path, content in whole.items():
        path.write_bytes(content[:-1] + b"!")
    assert compute(shipped("nordic"), folder, told) == first
    assert sum(path.read_bytes() == content for path, content in whole.items()) == 1


def test_the_basis_on_the_shelf_is_the_one_that_was_kept(basis: Basis, folder: Path) -> None:
    """Array by array."""
    found = basis_of("ace_king", Shelf(folder))
    assert found is not basis
    assert found.qualify == basis.qualify
    for name in ("weights", "categories", "not_qualified", "win", "tie", "six"):
        assert np.array_equal(getattr(found, name), getattr(basis, name))


def test_a_game_with_an_exchange_is_read_with_its_decisions(tmp_path: Path, told: list[str]) -> None:
    """Both were counted together, and for stakes in the same proportions."""
    house = shipped("czech")
    rules = rules_for(house, "CZK", TableSettings())
    payoffs = Payoffs.from_rules(rules, 1_000)
    states = np.arange(20).reshape(4, 5)
    values = ExchangeValues(
        payoffs, "ace_king", states.astype(np.int8), states * 10**12, -states.astype(np.int8)
    )
    keep_exchange(Shelf(tmp_path), BUYING, values)
    odds = compute(house, tmp_path, told, 300)
    assert odds.outcomes == BUYING
    found = exchange_values_of("ace_king", odds.payoffs, Shelf(tmp_path), told.append)
    assert (found.payoffs, found.qualify) == (odds.payoffs, "ace_king")
    for name in ("places", "values", "decisions"):
        assert np.array_equal(getattr(found, name), getattr(values, name))
    assert told == []


def test_what_is_kept_is_of_one_engine(folder: Path) -> None:
    """The engine is known by its code."""
    assert len(engine()) == 64
    with next(folder.glob("basis-*")).open("rb") as file:
        assert engine() in file.readline().decode()


@pytest.mark.parametrize(
    ("house", "ups", "message"),
    [
        ("nordic", (0, 1, 2), "a game with 3 up-cards is not counted as a whole: with 1 or 2 it is"),
        ("nordic", (0, 1, 2, 3), "a game with 4 up-cards is not counted as a whole"),
        ("czech", (0, 1), "a game with an exchange and 2 up-cards is not counted: with 1 it is"),
    ],
)
def test_games_that_are_not_counted_are_refused(
    house: str, ups: tuple[int, ...], message: str, folder: Path, told: list[str]
) -> None:
    """In one sentence."""
    with pytest.raises(OddsError, match=message):
        compute(changed(shipped(house), deal={"dealer_up_indices": ups}), folder, told)


def test_an_ante_that_the_house_does_not_take_is_refused(folder: Path, told: list[str]) -> None:
    """Before anything is counted."""
    with pytest.raises(OddsError, match="takes an ante of at most 10000"):
        compute(shipped("uk-casino"), folder, told, 10_001)
