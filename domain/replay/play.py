"""Was the round played by the rules: who sat where, who decided when, and how it ended."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from domain.replay.house import House
from domain.replay.kinds import RoundOpened
from domain.replay.report import PROBLEMS_MAX, Findings
from domain.replay.state import Game, Seat
from domain.replay.stream import Record


def check_phases(game: Game, records: Sequence[Record], findings: Findings) -> None:
    """Check what needs no rule set: legal transitions, an end, one player a seat, the count of bettors."""
    findings.none_of("phases", game.problems)
    findings.holds("finished", game.finished and game.opened is not None, None, game.phase)
    findings.none_of("players", list(_strangers(game, records)))
    if game.betting_closed is None:
        findings.skip("betting_closed.seats")
    else:
        findings.same("betting_closed.seats", len(game.seats), game.betting_closed.seats)


def _strangers(game: Game, records: Sequence[Record]) -> Iterator[dict[str, Any]]:
    """Events about a seat that nobody took, or that name another player than the one who took it."""
    for record in records:
        number = getattr(record.data, "seat", None)
        if number is None:
            continue
        seat = game.seats.get(number)
        if seat is None:
            yield record.problem("nobody took this seat")
        elif getattr(record.data, "player", seat.player) != seat.player:
            yield record.problem("another player's seat")


def check_house(game: Game, opened: RoundOpened, house: House, findings: Findings) -> None:
    """Check the round against its house: seating, decisions, the reveal, the way it ended."""
    findings.holds("currency_offered", opened.currency in house.currencies, None, opened.currency)
    findings.none_of("seats_within_house", [number for number in game.seats if number > house.seats])
    findings.none_of("hands_per_player", with_too_many_hands(game.seats, house))
    findings.none_of("decision_order", _out_of_turn(game) if house.decisions_in_seat_order else [])
    timed_out = [action for action in game.actions if action.data.decided_by == "timeout"]
    findings.none_of("decided_by", [*_illegal_deciders(timed_out, opened, house)] if timed_out else [])
    _check_reveal(game, house, findings)
    if game.voided is None:
        findings.skip("void_cause")
    else:
        cause = game.voided.data.cause
        findings.holds("void_cause", _may_void(game, house, cause), _causes(house), cause)


def _out_of_turn(game: Game) -> list[dict[str, Any]]:
    """Actions of a seat while a lower one had not decided."""
    turns = iter(sorted(game.seats))
    turn = next(turns, None)
    wrong = []
    for action in game.actions:
        if action.data.seat != turn:
            wrong.append(action.problem(f"seat {turn} was to decide"))
        if action.type != "CardExchanged":
            turn = next(turns, None)
    return wrong


def with_too_many_hands(seats: Mapping[int, Seat], house: House) -> list[str]:
    """The players who hold more hands than the house allows."""
    if len(seats) <= house.hands_per_player:
        return []
    hands = Counter(seat.player for seat in seats.values())
    return [player for player, held in hands.items() if held > house.hands_per_player]


def _illegal_deciders(
    timed_out: Sequence[Record], opened: RoundOpened, house: House
) -> Iterator[dict[str, Any]]:
    """A time-out only ever folds, where the house folds on a time-out and the table has one."""
    for action in timed_out:
        if action.type != "Folded":
            yield action.problem("a time-out never stakes money")
        elif not house.timeout_folds:
            yield action.problem("this house does not fold on a time-out")
        elif not opened.parameters.decision_seconds:
            yield action.problem("this table has no time-out")


def _check_reveal(game: Game, house: House, findings: Findings) -> None:
    """A dealer's hand is revealed when a seat raised, or by the house's choice when all folded."""
    if game.voided is not None or game.opened is None:
        findings.skip("dealer_revealed")
        return
    due = house.reveal_if_all_fold or any(not seat.folded for seat in game.seats.values())
    findings.same("dealer_revealed", due, game.dealer is not None)


def _may_void(game: Game, house: House, cause: str) -> bool:
    """Whether a round may be void for this cause.

    A misdeal is the house's to declare (reading 14), a malfunction voids any unfinished round (reading 15);
    ``expired`` is a round that nobody staked on; ``timeout`` may not void seats that the house folds
    instead.
    """
    if cause == "expired":
        return not game.seats
    if cause == "timeout":
        undecided = game.voided_in == "deciding" and game.decided < len(game.seats)
        return bool(game.seats) and not (undecided and house.timeout_folds)
    return cause == "malfunction" or cause in house.misdeal_causes


def _causes(house: House) -> list[str]:
    """The causes there are for a house."""
    return [*sorted(house.misdeal_causes), "malfunction", "timeout", "expired"][:PROBLEMS_MAX]
