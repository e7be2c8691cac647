"""What exchanges are worth, read from the shelf while hands are judged."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from api import composition
from api.settings import ServiceSettings
from domain.hands import Qualifier
from domain.odds.exchange_values import ExchangeValues
from domain.odds.lookup import Lookup
from domain.odds.payoffs import Payoffs
from infrastructure.odds.computing import keep_exchange
from infrastructure.odds.kept import HELD_MAX, LOOK_SECONDS, KeptExchanges
from infrastructure.odds.shelf import Shelf
from infrastructure.projections.judging import DENOMINATOR
from tests.unit.domain.odds.counted import BUYING
from tests.unit.infrastructure.projecting import projected
from tests.unit.infrastructure.test_projected_exchanges import BEST, FREE, deal, played, values


class Clock:
    """A clock that stands until it is moved. `now` in seconds."""

    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        """Return the time."""
        return self.now


@pytest.fixture
def clock() -> Clock:
    """Return a clock."""
    return Clock()


def stakes(number: int) -> Payoffs:
    """Return one of many stakes."""
    return replace(FREE, raised=2 + number)


def keep(folder: Path, payoffs: Payoffs, qualify: Qualifier = "ace_king") -> None:
    """Put values on the shelf: small arrays in which the payoffs can be found again."""
    places = np.full((2, 3), payoffs.raised, np.int8)
    keep_exchange(
        Shelf(folder), BUYING, ExchangeValues(payoffs, qualify, places, places.astype(np.int64), places)
    )


def remove(folder: Path) -> None:
    """Take everything from the shelf."""
    for path in folder.iterdir():
        path.unlink()


def test_only_exactly_these_stakes_are_known(tmp_path: Path, clock: Clock) -> None:
    """In whatever unit; what is there for others, or another dealer, is not taken for them."""
    keep(tmp_path, stakes(1))
    kept = KeptExchanges(tmp_path, clock)
    for unit in (1, 250):
        found = kept("ace_king", replace(stakes(1), unit=unit))
        assert found is not None
        found.require(stakes(1), "ace_king")
        assert found.places.tolist() == [[3, 3, 3], [3, 3, 3]]
    assert kept("ace_king", stakes(2)) is None
    assert kept("pair", stakes(1)) is None
    assert kept("ace_king", replace(stakes(1), raise_wins=(*FREE.raise_wins[:9], 100))) is None


def test_new_ones_are_found_a_minute_later(tmp_path: Path, clock: Clock) -> None:
    """A shelf that has nothing, or is not there, is not asked for every hand."""
    kept = KeptExchanges(tmp_path / "shelf", clock)
    assert kept("ace_king", stakes(0)) is None
    keep(tmp_path / "shelf", stakes(0))
    clock.now += LOOK_SECONDS - 1
    assert kept("ace_king", stakes(0)) is None
    clock.now += 1
    assert kept("ace_king", stakes(0)) is not None


def test_those_used_last_are_held(tmp_path: Path, clock: Clock) -> None:
    """They need no shelf any more; another one than these is looked for there, once a minute."""
    kept = KeptExchanges(tmp_path, clock)
    for number in range(HELD_MAX + 1):
        keep(tmp_path, stakes(number))
    for number in (*range(HELD_MAX), 0, HELD_MAX):
        assert kept("ace_king", stakes(number)) is not None
    clock.now += LOOK_SECONDS
    remove(tmp_path)
    found = [kept("ace_king", stakes(number)) is not None for number in range(HELD_MAX + 1)]
    assert found == [True, False, *([True] * (HELD_MAX - 1))]
    keep(tmp_path, stakes(1))
    assert kept("ace_king", stakes(1)) is None
    clock.now += LOOK_SECONDS
    assert kept("ace_king", stakes(1)) is not None


def test_what_is_damaged_is_not_known(tmp_path: Path, clock: Clock) -> None:
    """A hand is judged without it, then."""
    keep(tmp_path, FREE)
    (path,) = tmp_path.glob("exchange-*")
    path.write_bytes(path.read_bytes()[:-1] + b"!")
    assert KeptExchanges(tmp_path, clock)("ace_king", FREE) is None


@pytest.mark.parametrize("computes", [True, False])
def test_a_service_judges_by_its_own_shelf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, computes: bool
) -> None:
    """What its odds have left there is what an exchange is worth; where it computes none, it is counted."""
    best, lookup = deal(*BEST), Lookup()
    true = values(lookup, FREE, [best])
    keep_exchange(Shelf(tmp_path), BUYING, replace(true, values=true.values + (true.values != 0)))
    given: dict[str, Any] = {}
    monkeypatch.setattr(composition, "ProjectionRunner", lambda *_, **options: given.update(options))
    composition.projections_of(ServiceSettings("", tmp_path, odds=tmp_path if computes else None), "any")
    row, _ = projected(played(best), projections=given["projections"]).dicts("decisions")
    judged = lookup.judge(FREE, best.hand, [best.up])
    assert judged.denominator == DENOMINATOR
    assert row["uncapped"] == 100 * (judged.numerators[judged.best] + computes)
