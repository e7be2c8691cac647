"""Dealing: which card of the deck goes where, and what a physical table may report.

``round_robin`` (003): a card to each box in seat order and one to the dealer, five times. ``block`` (001, and
our flagged reading of 002 and 004): five cards to each box, then five to the dealer.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from domain import events as ev
from domain.cards import CardError, require_cards
from domain.commands import DealCards
from domain.rejections import Rejection
from domain.round import Round
from domain.rules import Rules
from domain.views import round_answer
from domain.work import Work

HAND = 5


def deal_cards(command: DealCards, work: Work) -> dict[str, Any]:
    """Close betting and deal: from the deck, or as a physical table reports. Returns the round.

    Rejects with round_not_found, wrong_phase, validation_failed, misdeal.
    """
    round_ = work.round(command.round_id)
    if round_.phase != "betting":
        raise Rejection(
            "wrong_phase",
            f"Round {round_.id} is {round_.phase}: cards are dealt once, after betting.",
            phase=round_.phase,
        )
    if not round_.seats:
        raise Rejection("validation_failed", "There is no seat to deal to.")
    named = command.hands is not None or command.shared is not None or command.dealer_up is not None
    if round_.opened.deal_source == "rng":
        if named:
            raise Rejection(
                "validation_failed", "The deck of this round is fixed by its commitment: no cards are taken."
            )
        deal_from_deck(work, round_.id)
    else:
        _deal_from_table(work, round_, command)
    return round_answer(work, round_.id)


def positions(rules: Rules, hands: int) -> list[tuple[int, ...]]:
    """The deck positions, from 0, of each of `hands` hands in seat order and then of the dealer's."""
    if rules.pattern == "block":
        return [tuple(range(HAND * hand, HAND * hand + HAND)) for hand in range(hands + 1)]
    return [tuple(range(hand, HAND * (hands + 1), hands + 1)) for hand in range(hands + 1)]


def hands_dealt(rules: Rules, round_: Round) -> int:
    """How many player hands the round's deal has: one for each seat, or the one that all share."""
    return 1 if rules.shared else len(round_.seats)


def dealer_from_deck(work: Work, round_: Round, rules: Rules) -> tuple[tuple[str, ...], tuple[int, ...]]:
    """The dealer's five cards from the round's own deck, in dealing order, and their positions."""
    hands = hands_dealt(rules, round_)
    indices = positions(rules, hands)[-1]
    cards = work.secrets[round_.id].cards(round_, HAND * (hands + 1))
    return tuple(cards[index] for index in indices), indices


def deal_from_deck(work: Work, round_id: str) -> None:
    """Close betting and deal from the committed deck."""
    round_ = work.rounds[round_id]
    rules = work.rules_of(round_)
    work.emit_round(round_id, ev.BettingClosed(len(round_.seats)))
    hands = hands_dealt(rules, round_)
    places = positions(rules, hands)
    deck = work.secrets[round_id].cards(round_, HAND * (hands + 1))
    drawn = [tuple(deck[index] for index in place) for place in places]
    up = rules.up_indices
    _emit_dealt(work, round_, rules, drawn[:-1], tuple(drawn[-1][place] for place in up), places)


def _emit_dealt(
    work: Work,
    round_: Round,
    rules: Rules,
    hands: Sequence[tuple[str, ...]],
    up_cards: tuple[str, ...],
    places: Sequence[tuple[int, ...]] | None,
) -> None:
    for number, cards in enumerate(hands):
        indices = places[number] if places is not None else None
        if rules.shared:
            work.emit_round(round_.id, ev.Dealt("shared", cards, None, indices))
        else:
            work.emit_round(round_.id, ev.Dealt("seat", cards, round_.order[number], indices))
    up_places = tuple(places[-1][place] for place in rules.up_indices) if places is not None else None
    work.emit_round(round_.id, ev.Dealt("dealer", up_cards, None, up_places, rules.up_indices))
    seconds = round_.opened.parameters.decision_seconds
    if seconds is None:
        work.deadlines.pop(round_.id, None)
    else:
        work.deadlines[round_.id] = work.now_us + seconds * 1_000_000


def _deal_from_table(work: Work, round_: Round, command: DealCards) -> None:
    rules = work.rules_of(round_)
    hands: list[tuple[str, ...]]
    if rules.shared:
        if command.hands is not None or command.shared is None:
            raise Rejection("validation_failed", "This house deals one shared hand: name it as player.")
        hands = [command.shared]
    else:
        if command.shared is not None or command.hands is None:
            raise Rejection("validation_failed", "Name the five cards of each seat.")
        if set(command.hands) != set(round_.seats):
            raise Rejection(
                "misdeal",
                "Cards must be reported for exactly the seats that play.",
                seats=sorted(round_.seats),
            )
        hands = [command.hands[seat] for seat in sorted(command.hands)]
    up = command.dealer_up
    if up is None or len(up) != len(rules.up_indices):
        raise Rejection("misdeal", f"The dealer shows {len(rules.up_indices)} card(s).")
    for hand in hands:
        scan(hand, HAND)
    scan([*(card for hand in hands for card in hand), *up], HAND * len(hands) + len(up))
    work.emit_round(round_.id, ev.BettingClosed(len(round_.seats)))
    _emit_dealt(work, round_, rules, hands, up, None)


def scan(cards: Sequence[str], count: int) -> tuple[str, ...]:
    """Cards a physical table reports.

    Rejects an unknown or repeated card or a wrong count with misdeal: it may be scanned again (003).
    """
    try:
        return require_cards(cards, count)
    except CardError as error:
        raise Rejection("misdeal", f"The scan is refused: {error}.") from None


def scan_new(round_: Round, cards: Sequence[str], count: int) -> tuple[str, ...]:
    """`scan` cards that come on a table where others lie; rejects one that anybody has been dealt already.

    Like every refusal it names places, not cards: what lies there may be face down.
    """
    scanned = scan(cards, count)
    seen = cards_on_table(round_)
    repeated = [place for place, card in enumerate(scanned) if card in seen]
    if repeated:
        raise Rejection(
            "misdeal", f"The scan is refused: the card at position {repeated[0]} is on the table already."
        )
    return scanned


def cards_on_table(round_: Round) -> set[str]:
    """Every card of the round that anybody has been dealt or shown, exchanged ones included."""
    seen = set(round_.shared) | set(round_.up_cards) | set(round_.dealer) | set(round_.discards)
    for seat in round_.seats.values():
        seen.update(seat.cards)
    return seen
