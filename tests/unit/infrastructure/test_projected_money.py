"""What projections believe of an event's money, and what stops them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from domain.money import EXACT
from domain.postings import MOVERS, ON_GAME, WALLET, Leg, legs
from infrastructure.ledger.stored_form import decode
from infrastructure.projections.jackpot_days import JackpotDays
from infrastructure.projections.kinds import Happened, Poison
from infrastructure.projections.movements import MONEY, Movement, movement
from infrastructure.projections.performance import Performance
from infrastructure.projections.postings import Postings
from infrastructure.projections.round_facts import RoundFacts
from infrastructure.projections.sessions import Sessions
from infrastructure.projections.trial_balance import TrialBalance
from tests.unit.infrastructure.eventful_play import eventful
from tests.unit.infrastructure.projecting import Projecting, happened, projected

LEDGER = eventful(23, 500)
EVENTS = happened(LEDGER)


def test_movements_are_the_legs_of_the_domain() -> None:
    """For every event of a long life the legs told here are those of `domain.postings`, of all types."""
    seen = set()
    for row, event in zip(LEDGER.events, EVENTS, strict=True):
        moved = movement(event)
        told: Counter[tuple[str, str]] = Counter()
        for leg in legs(decode(row.data).event):
            told[leg.account, leg.owner] += leg.amount
        found: Counter[tuple[str, str]] = Counter()
        if moved is not None:
            seen.add(event.type)
            found[WALLET, moved.player] += moved.wallet * EXACT
            found[ON_GAME, moved.player] += moved.on_game * EXACT
            for account, owner, amount in moved.others:
                found[account, owner] += amount
        assert {k: v for k, v in found.items() if v} == {k: v for k, v in told.items() if v}
    assert seen == MONEY == {kind.__name__ for kind in MOVERS}


def test_an_amount_that_is_none_stops() -> None:
    """An event whose exact amounts cannot be read is poison, with its position."""
    hit = next(event for event in EVENTS if event.type == "JackpotHit")
    with pytest.raises(Poison, match=f"position {hit.position}: the money of this JackpotHit makes no sense"):
        movement(altered(hit, from_meter="1,5"))


def altered(event: Happened, **data: Any) -> Happened:
    """Return an event with other data."""
    return event._replace(data={**event.data, **data})


def stopped_at(projecting: Projecting, alter: Callable[[Happened], Happened], kind: str) -> Poison:
    """Alter the last event of a type and project up to it; return what stops there."""
    at = max(event.position for event in EVENTS if event.type == kind)
    projecting.take(EVENTS[: at - 1])
    with pytest.raises(Poison) as stopped:
        projecting.take([alter(EVENTS[at - 1])])
    assert stopped.value.position == at
    return stopped.value


@pytest.mark.parametrize("kind", ["Deposited", "AntePlaced", "Raised", "Settled", "JackpotHit"])
def test_another_balance_than_the_running_one_stops(kind: str) -> None:
    """A balance that an event states is the balance before it and what the event adds, or it is poison."""
    found = stopped_at(
        Projecting([Postings]), lambda e: altered(e, balance_after=e.data["balance_after"] + 1), kind
    )
    assert "in a wallet" in found.why


def test_a_wallet_below_zero_stops() -> None:
    """No event takes a wallet below zero, even where it says so itself."""
    projecting = Projecting([Postings])
    with pytest.raises(Poison, match="position 7: Withdrawn leaves -5 in a wallet"):
        projecting.take(
            [Happened(7, 0, "wallet-p", 2, "Withdrawn", {**TRANSFER, "balance_after": -5}, {"actor": "a"})]
        )


TRANSFER = {"player": "p", "amount": 5, "reference": "r", "transaction_id": "t"}


def test_money_of_a_wallet_that_was_never_opened_stops() -> None:
    """Nobody knows which account such money would be on."""
    event = Happened(1, 0, "wallet-p", 2, "Deposited", {**TRANSFER, "balance_after": 5}, {"actor": "a"})
    with pytest.raises(Poison, match="position 1: Deposited is about what was never opened"):
        projected([event], projections=[TrialBalance])


@pytest.mark.parametrize(
    ("kind", "field"),
    [
        ("JackpotHit", "meter_after"),
        ("ContributionReversed", "meter_after"),
        ("JackpotTransferred", "to_meter_after"),
        ("JackpotAdjusted", "after"),
        ("JackpotParametersActivated", "meter_after"),
    ],
)
def test_another_meter_than_the_running_one_stops(kind: str, field: str) -> None:
    """What an event says it leaves in a pool is what all events before it and its own legs leave there."""
    found = stopped_at(Projecting([TrialBalance]), lambda e: altered(e, **{field: "123456789"}), kind)
    assert "leaves another amount in jackpot" in found.why


def test_legs_on_pools_that_no_figure_tells_stop() -> None:
    """A movement of a pool that the roll-forward has no name for is not left out of it."""
    bet = next(event for event in EVENTS if event.type == "SideBetPlaced" and "contribution" in event.data)
    facts = RoundFacts()
    facts.moved = Movement("p", 0, 0, (Leg("jackpot", bet.data["jackpot_id"], 1), Leg("house", "", -1)))
    with pytest.raises(Poison, match=f"moves jackpot {bet.data['jackpot_id']} unaccountably"):
        JackpotDays().event(bet, facts, _Nowhere())


class _Nowhere:
    """Takes no row."""

    def put(self, table: str, row: tuple[Any, ...]) -> None:
        """Refuse."""
        raise AssertionError(table, row)


@pytest.mark.parametrize(
    ("kind", "alter", "why"),
    [
        ("Settled", lambda e: altered(e, bets=e.data["bets"][1:]), "leave the game"),
        ("StakeRefunded", lambda e: altered(e, amount=e.data["amount"] - 1), "leave the game"),
        ("Settled", lambda e: altered(e, player="somebody"), "cannot end here"),
        ("ContributionReversed", lambda e: altered(e, amount="0.5"), "another amount into the jackpot"),
        ("AntePlaced", lambda e: e._replace(version=e.version + 1), "does not follow version"),
        ("AntePlaced", lambda e: e._replace(type="Folded2"), "does not follow version"),
        ("RoundOpened", lambda e: e._replace(type="BettingClosed"), "does not follow version"),
        ("Dealt", lambda e: altered(e, seat=99), "names an unknown, 99"),
        ("RoundVoided", lambda e: e._replace(type="RoundOpened"), "does not follow version"),
    ],
)
def test_a_round_that_contradicts_itself_stops(
    kind: str, alter: Callable[[Happened], Happened], why: str
) -> None:
    """Facts refuse an event that does not follow from those before it, and say which."""
    assert why in stopped_at(Projecting([Performance]), alter, kind).why


def test_a_round_that_closes_too_early_stops() -> None:
    """A round closes after its last seat has been settled, and a seat has one ante."""
    settled = next(event for event in EVENTS if event.type == "Settled")
    events = [e for e in EVENTS if e.stream == settled.stream and e.version < settled.version]
    facts = RoundFacts()
    for event in events:
        facts.fold(event)
    with pytest.raises(Poison, match=r"closes with \d seats that are not settled"):
        facts.fold(settled._replace(type="RoundClosed", data={}))
    ante = next(event for event in events if event.type == "AntePlaced")
    with pytest.raises(Poison, match="has its ante already"):
        facts.fold(ante._replace(version=facts.version + 1))


def test_what_is_remembered_is_bounded() -> None:
    """With room for almost nobody all that is needed is read back, and the rows are the same."""
    wanted = projected(EVENTS, (50,)).rows
    forgetful = [partial(each, 2) for each in (Postings, Sessions, TrialBalance)]
    found = projected(EVENTS, (50,), projections=forgetful).rows
    assert found == {name: wanted[name] for name in found}
