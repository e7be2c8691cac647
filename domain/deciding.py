"""A seat's decision: raise, fold, or buy a card first; and what happens when the clock decides."""

from __future__ import annotations

from typing import Any, Final

from domain import events as ev
from domain.betting import open_round
from domain.commands import Decide, OpenRound, TimeOutRound
from domain.dealing import HAND, hands_dealt, scan_new
from domain.rejections import Rejection
from domain.round import Round, Seat
from domain.rules import Rules
from domain.settling import reveal_from_deck, settle_seats
from domain.views import round_answer
from domain.voiding import void
from domain.work import Wallet, Work

TIMEOUT_SEATS_MAX: Final = 500
"""How many seats one time-out command folds; a larger round is looked at again."""


def decide(command: Decide, work: Work) -> dict[str, Any]:
    """Take one seat's decision.

    The last one of an ``rng`` round reveals the dealer and settles. Returns the round.

    With `open_next`, a round that this ends is followed by a new one in the same command, as ``next_round``.

    Rejects with round_not_found, wrong_phase, already_decided, not_your_seat, insufficient_funds,
    validation_failed, misdeal.
    """
    round_ = work.round(command.round_id)
    seat = _deciding_seat(round_, command)
    rules = work.rules_of(round_)
    if rules.decision_order == "seat" and seat.seat != round_.next_seat():
        turn = round_.next_seat()
        raise Rejection(
            "not_your_seat",
            f"The house takes decisions in seat order: it is the turn of seat {turn}.",
            seat=seat.seat,
            next_seat=turn,
        )
    wallet = work.wallets[seat.player]
    if command.action == "exchange":
        _exchange(work, round_, rules, seat, wallet, command)
    elif command.action == "raise":
        _require_no_cards(command)
        _raise(work, round_, rules, seat, wallet)
    else:
        _require_no_cards(command)
        work.emit_round(round_.id, ev.Folded(seat.seat, "player"))
    # Where seats wait for one another, or one has just seen a new card, the time to decide starts anew.
    if command.action == "exchange" or rules.decision_order == "seat":
        _restart_clock(work, round_)
    go_on(work, round_, rules)
    answer = round_answer(work, round_.id, seats=[command.seat])
    if command.open_next and command.next_round_id is not None and round_.phase == "closed":
        _open_next(work, round_, command.next_round_id, answer)
    return answer


def time_out(command: TimeOutRound, work: Work) -> dict[str, Any]:
    """The round's clock has run out (GLI-19 4.16.3).

    Undecided seats fold, or the round is void, as the house says.

    A round that nobody has staked on expires, and one that was never dealt is void. Rejects with
    round_not_found, wrong_phase.
    """
    round_ = work.round(command.round_id)
    deadline = work.deadlines.get(round_.id)
    if deadline is None or deadline > work.now_us or round_.phase not in ("betting", "dealt"):
        raise Rejection("wrong_phase", f"Round {round_.id} has no time-out due.", phase=round_.phase)
    rules = work.rules_of(round_)
    if round_.phase == "betting":
        void(work, round_, "timeout" if round_.seats else "expired")
    elif rules.on_timeout == "void":
        void(work, round_, "timeout")
    else:
        _fold_late_seats(work, round_, rules)
        go_on(work, round_, rules)
    return round_answer(work, round_.id)


def _fold_late_seats(work: Work, round_: Round, rules: Rules) -> None:
    """Fold who has had the time to decide; in seat order that is one seat, and the next one's time begins."""
    late = [seat for seat in round_.order if round_.seats[seat].decided_by is None]
    in_turn = rules.decision_order == "seat"
    for seat in late[: 1 if in_turn else TIMEOUT_SEATS_MAX]:
        work.emit_round(round_.id, ev.Folded(seat, "timeout"))
    if in_turn:
        _restart_clock(work, round_)


def go_on(work: Work, round_: Round, rules: Rules) -> None:
    """After a decision.

    Where it was the last, reveal the dealer's hand from the deck, or settle without it where the house
    does not show it.
    """
    if round_.phase != "decided":
        return
    work.deadlines.pop(round_.id, None)
    everybody_folded = round_.folded == len(round_.seats)
    if everybody_folded and not rules.reveal_if_all_fold:
        settle_seats(work, round_, rules)
    elif round_.opened.deal_source == "rng":
        reveal_from_deck(work, round_, rules)


def _deciding_seat(round_: Round, command: Decide) -> Seat:
    seat = round_.seats.get(command.seat)
    if seat is None:
        raise Rejection("not_your_seat", f"Nobody has a bet on seat {command.seat}.", seat=command.seat)
    if seat.decided_by is not None:
        raise Rejection(
            "already_decided",
            f"Seat {command.seat} has {seat.step}.",
            seat=command.seat,
            decision="fold" if seat.step == "folded" else "raise",
        )
    if round_.phase != "dealt":
        raise Rejection(
            "wrong_phase",
            f"Round {round_.id} is {round_.phase}: decisions follow the deal.",
            phase=round_.phase,
        )
    if command.action == "exchange" and seat.step == "exchanged":
        raise Rejection(
            "already_decided",
            f"Seat {command.seat} has bought its card.",
            seat=command.seat,
            decision="exchange",
        )
    return seat


def _require_no_cards(command: Decide) -> None:
    if command.discard is not None or command.drawn is not None:
        raise Rejection("validation_failed", "Only an exchange names cards.")


def _pay(wallet: Wallet, amount: int, what: str) -> int:
    """The balance after paying; rejects with insufficient_funds."""
    if wallet.balance < amount:
        raise Rejection(
            "insufficient_funds",
            f"The {what} is {amount}, the balance is {wallet.balance}.",
            needed=amount,
            balance=wallet.balance,
        )
    return wallet.balance - amount


def _raise(work: Work, round_: Round, rules: Rules, seat: Seat, wallet: Wallet) -> None:
    amount = seat.ante * rules.raise_multiple
    after = _pay(wallet, amount, "raise")
    work.emit_round(round_.id, ev.Raised(seat.seat, seat.player, amount, "player", after))


def _exchange(work: Work, round_: Round, rules: Rules, seat: Seat, wallet: Wallet, command: Decide) -> None:
    """Sell one card (003).

    The fee is taken at once, a card is burned, and the side bets the house names go with it (reading 13).
    """
    fee_antes = rules.exchange_fee_antes
    if fee_antes is None:
        raise Rejection("validation_failed", "This house sells no card.")
    if command.discard is None or command.discard not in seat.cards:
        raise Rejection("validation_failed", "Name the card to exchange: it must be one of the seat's five.")
    fee = seat.ante * fee_antes
    after = _pay(wallet, fee, "price of a card")
    burn_index = drawn_index = None
    if round_.opened.deal_source == "rng":
        if command.drawn is not None:
            raise Rejection(
                "validation_failed", "The deck of this round is fixed by its commitment: no cards are taken."
            )
        burn_index = HAND * (hands_dealt(rules, round_) + 1) + 2 * len(round_.discards)
        drawn_index = burn_index + 1
        drawn = work.secrets[round_.id].cards(round_, drawn_index + 1)[drawn_index]
    else:
        if command.drawn is None:
            raise Rejection("misdeal", "A physical table names the card it drew.")
        (drawn,) = scan_new(round_, [command.drawn], 1)
    forfeited = tuple(kind for kind in rules.forfeits if kind in seat.side_bets)
    work.emit_round(
        round_.id,
        ev.CardExchanged(
            seat.seat,
            seat.player,
            fee,
            command.discard,
            drawn,
            forfeited,
            "player",
            after,
            burn_index,
            drawn_index,
        ),
    )


def _restart_clock(work: Work, round_: Round) -> None:
    seconds = round_.opened.parameters.decision_seconds
    if seconds is not None:
        work.deadlines[round_.id] = work.now_us + seconds * 1_000_000


def _open_next(work: Work, round_: Round, round_id: str, answer: dict[str, Any]) -> None:
    """Open the players' next round; where the table takes none now, the decision stands without it."""
    try:
        opened = open_round(OpenRound(round_id, round_.opened.table_id), work)
    except Rejection:
        return
    answer["next_round"] = {"round_id": round_id, "deck_commitment": opened["deck_commitment"]}
