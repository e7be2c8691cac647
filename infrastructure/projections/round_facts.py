"""What is known of one round as of an event: a light fold of the stored data, for the projections.

It is not `domain.round.Round`: that one decides what may happen next, this one remembers what was staked,
paid and done when, as a record of the round needs it. It believes the writer's order of events, but not its
money: what a seat settles or gets back must be what it has staked.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

from domain.calendar import hour_start_us
from domain.money import parse_exact
from infrastructure.projections.kinds import Happened, Poison
from infrastructure.projections.movements import MONEY, Movement, movement

Cell = tuple[str, int, str, str, int, str, int, str, str]
"""Gaming day, hour (`hour_start_us`), table, rule set and version, jackpot and parameters' version (empty and
0 where there is none), currency, account class: what a report of performance is broken down by (A.6.1)."""


@dataclass(slots=True)
class SeatFacts:
    """One seat's part. Amounts in minor units, `contribution` and the like in 1/10000; times in microseconds.

    `balance_before` and `balance_after` are the player's wallet before the ante and after the latest event
    that moved it for this seat. `settled`, `hit`, `refund` are those events' data.
    """

    seat: int
    player: str
    ante: int
    balance_before: int
    balance_after: int
    placed_us: int
    session_id: str | None
    channel: str | None
    staked: int
    side_bets: dict[str, int] = field(default_factory=dict)
    contribution: int = 0
    diversion: int = 0
    reversed: int = 0
    cards: tuple[str, ...] = ()
    fee: int = 0
    raised: int = 0
    discard: str | None = None
    drawn: str | None = None
    exchanged_by: str | None = None
    exchanged_us: int | None = None
    decision: str | None = None
    decided_by: str | None = None
    decided_us: int | None = None
    hit: dict[str, Any] | None = None
    settled: dict[str, Any] | None = None
    refund: dict[str, Any] | None = None
    ended_us: int | None = None


class RoundFacts:
    """A round as of its latest folded event. Made empty; the first event must be ``RoundOpened``.

    `opened` is that event's data. `seats_of` has a player's seats in the order of their antes. `moved` is
    what the latest event's money did, or None. `unended` counts seats neither settled nor refunded.
    """

    __slots__ = (
        "account_class",
        "betting_closed_us",
        "cell",
        "currency",
        "dealer",
        "dealer_category",
        "decided_us",
        "ended_position",
        "ended_us",
        "finished",
        "last_us",
        "moved",
        "opened",
        "opened_position",
        "opened_us",
        "place",
        "qualified",
        "revealed_us",
        "round_id",
        "seats",
        "seats_of",
        "shared",
        "unended",
        "up_cards",
        "version",
        "void_cause",
    )

    def __init__(self) -> None:
        self.version = 0
        self.round_id = ""
        self.opened: dict[str, Any] = {}
        self.opened_position = self.opened_us = self.last_us = 0
        self.account_class = self.currency = ""
        self.cell: Cell = ("", 0, "", "", 0, "", 0, "", "")
        self.place: tuple[str, str, str] = ("", "", "")
        self.seats: dict[int, SeatFacts] = {}
        self.seats_of: dict[str, list[int]] = {}
        self.unended = 0
        self.moved: Movement | None = None
        self.shared: tuple[str, ...] = ()
        self.up_cards: tuple[str, ...] = ()
        self.dealer: tuple[str, ...] = ()
        self.dealer_category: str | None = None
        self.qualified: bool | None = None
        self.betting_closed_us: int | None = None
        self.decided_us: int | None = None
        self.revealed_us: int | None = None
        self.ended_us: int | None = None
        self.ended_position: int | None = None
        self.void_cause: str | None = None
        self.finished = False

    def fold(self, happened: Happened) -> None:
        """Take in the round's next event.

        Raises Poison for a version out of turn, a type that no round has, money that does not add up, and
        what contradicts the events before.
        """
        position, at_us, stream, version, type_, data, _ = happened
        fold = _FOLD.get(type_)
        if fold is None or version != self.version + 1 or (fold is _opened) is not (version == 1):
            raise Poison(
                position, f"{type_} as version {version} does not follow version {self.version} of {stream}"
            )
        self.version = version
        self.last_us = at_us
        self.moved = movement(happened) if type_ in MONEY else None
        try:
            fold(self, happened, data)
        except KeyError as error:
            raise Poison(position, f"{type_} lacks, or names an unknown, {error}") from error


# Each of these folds one kind of event.
def _opened(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    ruleset, jackpot = data["ruleset"], data.get("jackpot")
    facts.round_id = happened.stream.removeprefix("round-")
    facts.opened, facts.opened_position, facts.opened_us = data, happened.position, happened.at_us
    facts.account_class, facts.currency = data["account_class"], data["currency"]
    facts.place = facts.account_class, facts.currency, ruleset["id"]
    facts.cell = (
        data["gaming_day"],
        hour_start_us(happened.at_us, data["parameters"]["zone"]),
        data["table_id"],
        ruleset["id"],
        ruleset["version"],
        jackpot["id"] if jackpot else "",
        jackpot["version"] if jackpot else 0,
        facts.currency,
        facts.account_class,
    )


def _ante(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    number, player, amount, after = data["seat"], data["player"], data["amount"], data["balance_after"]
    if number in facts.seats:
        raise Poison(happened.position, f"seat {number} has its ante already")
    facts.seats[number] = SeatFacts(
        number,
        player,
        amount,
        after + amount,
        after,
        happened.at_us,
        data.get("session_id"),
        data.get("channel"),
        amount,
    )
    facts.seats_of.setdefault(player, []).append(number)
    facts.unended += 1


def _side_bet(facts: RoundFacts, _: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    amount = data["amount"]
    seat.side_bets[data["bet"]] = amount
    seat.staked += amount
    seat.balance_after = data["balance_after"]
    if "contribution" in data:
        seat.contribution += parse_exact(data["contribution"])
        if "diversion" in data:
            seat.diversion += parse_exact(data["diversion"])


def _betting_closed(facts: RoundFacts, happened: Happened, _: dict[str, Any]) -> None:
    facts.betting_closed_us = happened.at_us


def _dealt(facts: RoundFacts, _: Happened, data: dict[str, Any]) -> None:
    cards = tuple(data["cards"])
    if "seat" in data:
        facts.seats[data["seat"]].cards = cards
    elif data["to"] == "shared":
        facts.shared = cards
    else:
        facts.up_cards = cards


def _exchanged(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    seat.fee = data["fee"]
    seat.staked += seat.fee
    seat.balance_after = data["balance_after"]
    seat.discard, seat.drawn, seat.exchanged_by = data["discard"], data["drawn"], data["decided_by"]
    seat.exchanged_us = happened.at_us
    seat.cards = tuple(seat.drawn if card == seat.discard else card for card in seat.cards)


def _folded(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    seat.decision, seat.decided_by, seat.decided_us = "fold", data["decided_by"], happened.at_us
    facts.decided_us = happened.at_us


def _raised(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    seat.raised = data["amount"]
    seat.staked += seat.raised
    seat.balance_after = data["balance_after"]
    seat.decision, seat.decided_by, seat.decided_us = "raise", data["decided_by"], happened.at_us
    facts.decided_us = happened.at_us


def _dealer(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    facts.dealer, facts.dealer_category, facts.qualified = (
        tuple(data["cards"]),
        data["category"],
        data["qualified"],
    )
    facts.revealed_us = happened.at_us


def _hit(facts: RoundFacts, _: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    seat.hit = data
    seat.balance_after = data["balance_after"]


def _settled(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = _ended(facts, happened, data)
    seat.settled = data


def _refunded(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = _ended(facts, happened, data)
    seat.refund = data
    if not facts.unended:
        _finish(facts, happened)


def _ended(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> SeatFacts:
    seat = facts.seats[data["seat"]]
    moved = facts.moved
    if seat.ended_us is not None or seat.player != data["player"] or moved is None:
        raise Poison(happened.position, f"seat {seat.seat} of this player cannot end here")
    if moved.on_game != -seat.staked:
        raise Poison(
            happened.position,
            f"seat {seat.seat} has staked {seat.staked}, of which {-moved.on_game} leave the game",
        )
    seat.ended_us = happened.at_us
    seat.balance_after = data["balance_after"]
    facts.unended -= 1
    return seat


def _reversed(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    seat = facts.seats[data["seat"]]
    seat.reversed += parse_exact(data["amount"])
    if seat.reversed != seat.contribution + seat.diversion:
        raise Poison(happened.position, f"seat {seat.seat} has put another amount into the jackpot")


def _voided(facts: RoundFacts, happened: Happened, data: dict[str, Any]) -> None:
    facts.void_cause = data["cause"]
    if not facts.unended:
        _finish(facts, happened)


def _closed(facts: RoundFacts, happened: Happened, _: dict[str, Any]) -> None:
    if facts.unended:
        raise Poison(happened.position, f"the round closes with {facts.unended} seats that are not settled")
    _finish(facts, happened)


def _finish(facts: RoundFacts, happened: Happened) -> None:
    facts.finished = True
    facts.ended_us, facts.ended_position = happened.at_us, happened.position


_FOLD: Final[dict[str, Callable[[RoundFacts, Happened, dict[str, Any]], None]]] = {
    "RoundOpened": _opened,
    "AntePlaced": _ante,
    "SideBetPlaced": _side_bet,
    "BettingClosed": _betting_closed,
    "Dealt": _dealt,
    "CardExchanged": _exchanged,
    "Folded": _folded,
    "Raised": _raised,
    "DealerQualified": _dealer,
    "JackpotHit": _hit,
    "Settled": _settled,
    "RoundClosed": _closed,
    "RoundVoided": _voided,
    "ContributionReversed": _reversed,
    "StakeRefunded": _refunded,
}
