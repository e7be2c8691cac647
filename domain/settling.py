"""Showdown.

The dealer's hand is turned up, seats are settled in order, the jackpot pays, the round closes.
"""

from __future__ import annotations

from typing import Any

from domain import events as ev
from domain.commands import ContinueRound, RevealDealer
from domain.dealing import HAND, dealer_from_deck, scan_new
from domain.hands import best_of_six, qualifies, rank_five
from domain.jackpot_parameters import activate_scheduled, filled_up_to
from domain.jackpots import WHOLE_METER, Jackpot, Payment, pay, share_out
from domain.money import exact_text
from domain.rejections import Rejection
from domain.round import Round, Seat
from domain.rules import CompiledAward, Rules
from domain.settlement import Dealer, Played, settle, stands
from domain.views import round_answer
from domain.voiding import refund_seats, release_player, release_table
from domain.work import Work


def reveal_dealer(command: RevealDealer, work: Work) -> dict[str, Any]:
    """A physical table turns up the dealer's other cards; the round is settled. Returns the round.

    Rejects with round_not_found, wrong_phase, validation_failed, misdeal.
    """
    round_ = work.round(command.round_id)
    if round_.opened.deal_source != "table":
        raise Rejection("validation_failed", "This round reveals its own deck.")
    # A round whose dealer stays hidden is decided until its last seat is settled.
    if round_.phase != "decided" or round_.settled:
        raise Rejection(
            "wrong_phase",
            f"Round {round_.id} is {round_.phase}: the dealer reveals when every seat has decided.",
            phase=round_.phase,
        )
    rules = work.rules_of(round_)
    others = list(scan_new(round_, command.dealer, HAND - len(round_.up_cards)))
    ups = dict(zip(round_.up_indices, round_.up_cards, strict=True))
    cards = tuple(ups[place] if place in ups else others.pop(0) for place in range(HAND))
    _reveal(work, round_, rules, cards, None)
    return round_answer(work, round_.id)


def continue_round(command: ContinueRound, work: Work) -> dict[str, Any]:
    """Settle, or refund, the next seats of a round that has more than one command carries.

    Rejects with round_not_found, wrong_phase.
    """
    round_ = work.round(command.round_id)
    if round_.phase == "voided" and not round_.finished:
        refund_seats(work, round_)
    elif round_.phase in ("decided", "revealed") and round_.settled:
        settle_seats(work, round_, work.rules_of(round_))
    else:
        raise Rejection(
            "wrong_phase", f"Round {round_.id} is {round_.phase}: nothing is left over.", phase=round_.phase
        )
    return round_answer(work, round_.id)


def reveal_from_deck(work: Work, round_: Round, rules: Rules) -> None:
    """Turn up the dealer's hand from the round's own deck and settle."""
    cards, indices = dealer_from_deck(work, round_, rules)
    _reveal(work, round_, rules, cards, indices)


def _reveal(
    work: Work, round_: Round, rules: Rules, cards: tuple[str, ...], indices: tuple[int, ...] | None
) -> None:
    hand = rank_five(cards)
    qualified = qualifies(hand, rules.qualify)
    work.emit_round(round_.id, ev.DealerQualified(cards, str(hand.category), qualified, indices))
    settle_seats(work, round_, rules)


def settle_seats(work: Work, round_: Round, rules: Rules) -> None:
    """Settle the next seats in order, at most `settle_seats_max`; close the round after the last."""
    dealer = None
    if round_.dealer:
        dealer = Dealer(rank_five(round_.dealer), bool(round_.qualified))
    for number in round_.order[round_.settled : round_.settled + work.settle_seats_max]:
        _settle_seat(work, round_, rules, round_.seats[number], dealer)
    if round_.phase == "settled":
        secret = work.secrets.pop(round_.id, None)
        work.emit_round(round_.id, ev.RoundClosed(secret.seed.hex() if secret is not None else None))
        release_table(work, round_)


def _settle_seat(work: Work, round_: Round, rules: Rules, seat: Seat, dealer: Dealer | None) -> None:
    cards = round_.hand(seat)
    hand = rank_five(cards)
    jackpot = round_.opened.jackpot
    if jackpot is not None and seat.hit is None:
        _hit(work, round_, rules, seat, jackpot, dealer)
    bonus = best_of_six((*cards, round_.up_cards[0])) if "five_plus_one" in seat.side_bets else hand
    played = Played(
        seat.ante,
        seat.raised,
        seat.fee,
        seat.side_bets,
        seat.forfeited,
        seat.step == "folded",
        hand,
        bonus,
        seat.hit.award if seat.hit is not None else 0,
        _won_on_raises(round_, seat) if rules.cap_scope == "aggregate" else 0,
    )
    outcome = settle(rules, played, dealer)
    wallet = work.wallets[seat.player]
    back = sum(leg.returned + (leg.won if leg.bet != "jackpot" else 0) for leg in outcome.legs)
    category = str(hand.category)
    work.emit_round(
        round_.id,
        ev.Settled(
            seat.seat,
            seat.player,
            outcome.result,
            outcome.legs,
            outcome.shown,
            wallet.balance + back,
            category,
        ),
    )
    if jackpot is not None and "jackpot" in seat.side_bets:
        work.jackpots[jackpot.id].unsettled -= 1
        work.touched_jackpots.add(jackpot.id)
    release_player(work, round_, seat.player)


def _won_on_raises(round_: Round, seat: Seat) -> int:
    """What the same player's hands settled before this one have won on their raises."""
    return sum(
        leg.won
        for other in round_.seats.values()
        if other.player == seat.player and other.settled is not None
        for leg in other.settled.bets
        if leg.bet == "raise"
    )


def _award(rules: Rules, round_: Round, seat: Seat, dealer: Dealer | None) -> CompiledAward | None:
    """The jackpot award of the seat's final hand, or None.

    Only its highest category counts (GLI-19 4.13.7).
    """
    if "jackpot" not in seat.side_bets:
        return None
    bet = rules.side_bets["jackpot"]
    qualified = dealer is not None and dealer.qualified
    if not stands(bet, "jackpot", seat.forfeited, folded=seat.step == "folded", qualified=qualified):
        return None
    return bet.awards.get(rank_five(round_.hand(seat)).category)


def _hit(
    work: Work, round_: Round, rules: Rules, seat: Seat, opened: ev.JackpotRef, dealer: Dealer | None
) -> None:
    """Pay what the seat has won; the first that wins the meter shares it with all others (reading 11)."""
    award = _award(rules, round_, seat, dealer)
    if award is None:
        return
    jackpot = work.jackpots[opened.id]
    if award.percent != WHOLE_METER:
        _pay_hit(work, round_, seat, jackpot, pay(jackpot.meter, award))
        return
    winners = []
    for number in round_.order:
        other = round_.seats[number]
        theirs = _award(rules, round_, other, dealer)
        if theirs is not None and theirs.percent == WHOLE_METER:
            winners.append(other)
    payments = share_out(
        jackpot.meter,
        len(winners),
        opened.reset,
        overflow=jackpot.overflow,
        diverted=jackpot.diverted,
        most=filled_up_to(jackpot, opened),
    )
    for other, payment in zip(winners, payments, strict=True):
        _pay_hit(work, round_, other, jackpot, payment)
    activate_scheduled(work, jackpot, opened.reset)


def _pay_hit(work: Work, round_: Round, seat: Seat, jackpot: Jackpot, payment: Payment) -> None:
    wallet = work.wallets[seat.player]
    jackpot.hits += 1
    work.emit_round(
        round_.id,
        ev.JackpotHit(
            seat=seat.seat,
            player=seat.player,
            jackpot_id=jackpot.jackpot_id,
            category=str(rank_five(round_.hand(seat)).category),
            award=payment.award,
            from_meter=exact_text(payment.from_meter),
            from_house=exact_text(payment.from_house),
            meter_before=exact_text(jackpot.meter),
            meter_after=exact_text(payment.meter_after),
            order=jackpot.hits,
            previous_position=jackpot.moved_at,
            balance_after=wallet.balance + payment.award,
            restart=str(payment.restart) if payment.restart is not None else None,
            restart_from_diversion=exact_text(payment.from_diversion) if payment.from_diversion else None,
            from_overflow=exact_text(payment.from_overflow) if payment.from_overflow else None,
        ),
    )
