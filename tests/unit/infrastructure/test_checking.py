"""The checker's own reading of events, held against what the ledger itself makes of them."""

from __future__ import annotations

from collections import Counter
from functools import cache
from typing import Any

import orjson
import pytest

from domain.events import EVENT_CLASSES
from domain.money import parse_exact
from domain.postings import legs as posted
from infrastructure.checking.beside_rounds import BESIDE_ROUNDS, WITHOUT_MONEY
from infrastructure.checking.envelopes import Row
from infrastructure.checking.exact import exact, share, text
from infrastructure.checking.findings import KEPT_MAX, Findings
from infrastructure.checking.fold import Fold
from infrastructure.checking.in_rounds import IN_ROUNDS
from infrastructure.checking.legs import legs
from infrastructure.checking.samples import round_figures
from infrastructure.checking.shelf import Shelf
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.stored_form import decode
from tests.unit.infrastructure.eventful_play import eventful

SEEDS = range(6)
POOLS = {"jackpot": "meter", "jackpot_overflow": "overflow", "jackpot_diversion": "diverted"}
MONEY: list[tuple[str, str]] = [
    ("Deposited", "amount"),
    ("Deposited", "balance_after"),
    ("Withdrawn", "amount"),
    ("AntePlaced", "amount"),
    ("AntePlaced", "balance_after"),
    ("SideBetPlaced", "amount"),
    ("SideBetPlaced", "contribution"),
    ("SideBetPlaced", "overflow"),
    ("SideBetPlaced", "diversion"),
    ("Raised", "amount"),
    ("CardExchanged", "fee"),
    ("Settled", "balance_after"),
    ("JackpotHit", "award"),
    ("JackpotHit", "from_meter"),
    ("JackpotHit", "from_house"),
    ("JackpotHit", "restart"),
    ("JackpotHit", "from_overflow"),
    ("JackpotHit", "meter_before"),
    ("JackpotHit", "meter_after"),
    ("JackpotHit", "order"),
    ("JackpotHit", "previous_position"),
    ("StakeRefunded", "amount"),
    ("ContributionReversed", "amount"),
    ("ContributionReversed", "from_meter"),
    ("ContributionReversed", "from_house"),
    ("ContributionReversed", "meter_before"),
    ("ContributionReversed", "previous_position"),
    ("JackpotParametersActivated", "meter_after"),
    ("JackpotAdjusted", "amount"),
    ("JackpotAdjusted", "before"),
    ("JackpotTransferred", "amount"),
    ("JackpotTransferred", "to_meter_before"),
]
"""What an event says of money and could be edited to say otherwise."""


@cache
def lived(seed: int) -> MemoryLedger:
    """Return a ledger on which much has happened."""
    return eventful(seed)


def rows(ledger: MemoryLedger) -> list[Row]:
    """Return its events as the checker reads them."""
    return [(row.position, row.version, row.stream, row.data) for row in ledger.events]


def folded(events: list[Row], **options: int) -> Fold:
    """Return a fold of events."""
    fold = Fold(**options)
    fold.take(events)
    return fold


def books(fold: Fold) -> dict[str, Any]:
    """Return all that a fold holds."""
    of = fold.books
    return {
        "wallets": dict(of.wallets.items()),
        "rounds": dict(of.rounds.items()),
        "registers": dict(of.registers.items()),
        "accounts": of.accounts,
        "jackpots": of.jackpots,
        "tables": of.tables,
    }


@pytest.mark.parametrize("seed", SEEDS)
def test_an_honest_ledger_is_what_its_events_say(seed: int) -> None:
    """Every wallet, account, pool and open round that the writer keeps is what the checker comes to."""
    ledger = lived(seed)
    fold = folded(rows(ledger))
    of = fold.books
    assert of.findings.kept == []
    assert fold.position == ledger.position
    assert fold.recorded_at_us == ledger.recorded_at_us
    assert {
        player: (wallet.balance, wallet.on_game, wallet.version) for player, wallet in of.wallets.items()
    } == {player: (row.balance, row.on_game, row.version) for player, row in ledger.wallets.items()}
    assert {player: wallet.unfinished for player, wallet in of.wallets.items()} == {
        player: orjson.loads(row.unfinished) for player, row in ledger.wallets.items()
    }
    assert {key: amount for key, amount in of.accounts.items() if amount} == {
        key: amount for key, amount in ledger.accounts.items() if amount
    }
    for jackpot_id, row in ledger.jackpots.items():
        state, jackpot = orjson.loads(row.state), of.jackpots[jackpot_id]
        assert (jackpot.meter, jackpot.enabled) == (row.meter, row.enabled)
        assert (str(jackpot.overflow), str(jackpot.diverted)) == (state["overflow"], state["diverted"])
        for name in ("moved_at", "hits", "unsettled", "retired"):
            assert getattr(jackpot, name) == state[name], (jackpot_id, name)
        assert jackpot.parameters.version == state["parameters_version"]
    assert {round_id: round_.table for round_id, round_ in of.rounds.items()} == {
        round_id: row.table_id for round_id, row in ledger.open_rounds.items()
    }
    assert {name for name, _ in of.registers.items()} == set(ledger.registers)


def test_the_memory_is_bounded_and_nothing_is_lost() -> None:
    """With room for three wallets, rounds and streams, the rest waits in a file and comes to the same."""
    events = rows(lived(0))
    small, large = folded(events, held_max=3), folded(events)
    assert small.books.findings.kept == []
    assert books(small) == books(large)
    small.books.close()
    large.books.close()


@pytest.mark.parametrize("seed", SEEDS)
def test_the_legs_are_those_of_the_ledger(seed: int) -> None:
    """Two programs that share nothing post every event alike."""
    for row in lived(seed).events:
        event = decode(row.data).event
        mine = legs(type(event).__name__, orjson.loads(row.data)["data"])
        theirs: Counter[tuple[str, str]] = Counter()
        for leg in posted(event):
            theirs[POOLS.get(leg.account, leg.account), leg.owner] += leg.amount
        ours: Counter[tuple[str, str]] = Counter()
        if mine is not None:
            ours["wallet", mine.player] += mine.wallet * 10_000
            ours["on_game", mine.player] += mine.on_game * 10_000
            for kind, owner, amount in mine.others:
                ours[kind, owner] += amount
            assert mine.left == 0
        assert {key: amount for key, amount in ours.items() if amount} == {
            key: amount for key, amount in theirs.items() if amount
        }


def test_every_type_of_event_is_known() -> None:
    """A type that the checker does not know would pass for a discrepancy: each is in exactly one table."""
    known = [*IN_ROUNDS, *BESIDE_ROUNDS, *WITHOUT_MONEY, "RoundOpened"]
    assert sorted(known) == sorted(cls.__name__ for cls in EVENT_CLASSES)


@pytest.mark.parametrize(("type_", "field"), MONEY)
def test_an_edited_figure_is_found_at_its_event(type_: str, field: str) -> None:
    """A figure that is one off, in bytes that are canonical, is a discrepancy right there."""
    for seed in SEEDS:
        events = rows(lived(seed))
        for index, (position, version, stream, data) in enumerate(events):
            event = orjson.loads(data)
            if event["type"] != type_ or field not in event["data"]:
                continue
            value = event["data"][field]
            event["data"][field] = value + 1 if isinstance(value, int) else text(exact(value) + 1)
            edited = orjson.dumps(event, option=orjson.OPT_SORT_KEYS)
            fold = folded(
                [*events[:index], (position, version, stream, edited), *events[index + 1 : index + 2]]
            )
            first = fold.books.findings.first
            assert first is not None, event
            assert first.position == position, first
            return
    pytest.fail(f"no {type_} has a {field}")


def test_findings_are_counted_and_bounded() -> None:
    """The first ones are kept, all are counted, and the one at the lowest position comes first."""
    findings = Findings()
    assert findings.first is None
    for position in range(KEPT_MAX + 50, 0, -1):
        findings.add("name", position, "detail")
    assert (findings.count, len(findings.kept)) == (KEPT_MAX + 50, KEPT_MAX)
    assert findings.first is not None
    assert findings.first.position == 51


@pytest.mark.parametrize("amount", [0, 1, -1, 5_000, 10_000, 705_000, -12_345, 9 * 10**19])
def test_exact_amounts_are_read_as_the_ledger_writes_them(amount: int) -> None:
    """Text and amount are each other's, and the ledger's own reading agrees."""
    assert exact(text(amount)) == amount
    if abs(amount) < 10**19:
        assert parse_exact(text(amount)) == amount


@pytest.mark.parametrize(
    "wrong", ["", "1.", ".5", "01", "1.50", "1.00001", "1e3", "--1", " 1", "\u0661", None, 1, 1.5]
)
def test_what_the_ledger_never_writes_is_no_exact_amount(wrong: object) -> None:
    """Another spelling of a number is another text, and not one of the ledger's."""
    with pytest.raises(ValueError, match="not"):
        exact(wrong)


def test_a_share_may_end_in_zeros() -> None:
    """Shares are kept as the operator wrote them."""
    assert [share(each) for each in ("0.70", "1", "0", "0.0333", "1.0000")] == [7_000, 10_000, 0, 333, 10_000]


def test_a_shelf_holds_what_was_put_on_it() -> None:
    """Values are found, changed in place, removed and listed, wherever they lie."""
    with Shelf[list[int]](list, list, held_max=2) as shelf:
        for number in range(9):
            shelf.add(f"key-{number}", [number])
        for number in (3, 8, 0, 3):
            value = shelf.get(f"key-{number}")
            assert value is not None
            value.append(number)
        shelf.remove("key-1")
        shelf.remove("key-8")
        assert shelf.peek("key-1") is shelf.get("key-8") is shelf.get("never") is None
        assert shelf.count == 7
        assert dict(shelf.items()) == {
            "key-0": [0, 0],
            "key-3": [3, 3, 3],
            **{f"key-{number}": [number] for number in (2, 4, 5, 6, 7)},
        }
        assert len(list(shelf.values())) == 7


def test_a_round_without_its_beginning_has_no_figures() -> None:
    """Of a round that begins in an archived partition nothing is said, whatever is left of it."""
    streams: dict[str, list[dict[str, Any]]] = {}
    for stored in eventful(0).events:
        event = orjson.loads(stored.data)
        streams.setdefault(event["stream"], []).append(event)
    rounds = [events for stream, events in streams.items() if stream.startswith("round-")]
    shared = [events for events in rounds if sum(each["type"] == "AntePlaced" for each in events) > 1]
    assert shared
    for events in shared:
        assert len(round_figures(events)) > 1
        assert not any(round_figures(events[left_out:]) for left_out in range(1, len(events)))
