"""What became of a side bet, in words: the jackpot, the 5+1 bonus, the special bonus."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from api.page.amounts import exact, money
from api.page.card_words import CATEGORY_NAMES, category_name, hand_name
from domain.hands import best_of_six
from domain.money import EXACT, parse_exact
from domain.rules import CompiledAward, CompiledSideBet, Rules


def side_bet_sentences(
    view: Mapping[str, Any], seat: Mapping[str, Any], leg: Mapping[str, Any], rules: Rules, exchange: str
) -> str:
    """Why a side bet of a settled seat paid or did not; `exchange` is the house's word for buying a card."""
    kind = leg["bet"]
    bet = rules.side_bets[kind]
    if kind in rules.forfeits and seat.get("exchanged"):
        return f"This bet goes with the {exchange.lower()}, whatever card is drawn: its stake is lost."
    if seat["result"] == "folded" and not bet.survives_fold:
        return "This bet is given up with a fold: its stake is lost."
    if bet.needs_dealer_to_qualify and not (view.get("dealer") or {}).get("qualified"):
        return "This bet needs the dealer to qualify: its stake is lost."
    if kind == "five_plus_one":
        return _five_plus_one(view, seat, leg, bet, rules)
    if kind == "bonus":
        return _bonus(seat, leg, bet, rules)
    return _jackpot(view, seat, leg, bet, rules)


def award_words(award: CompiledAward, currency: str) -> str:
    """What an award is: a share of the meter or a fixed amount."""
    if award.percent is not None:
        return "the whole meter" if award.percent == 100 else f"{award.percent}% of the meter"  # noqa: PLR2004 - per cent
    return money(award.fixed or 0, currency)


def lowest_paid(bet: CompiledSideBet) -> str:
    """The least category that a side bet pays, as it stands within a sentence."""
    paid = [category for category in CATEGORY_NAMES if category in bet.pays or category in bet.awards]
    return category_name(paid[-1], article=True)


def _five_plus_one(
    view: Mapping[str, Any],
    seat: Mapping[str, Any],
    leg: Mapping[str, Any],
    bet: CompiledSideBet,
    rules: Rules,
) -> str:
    category = best_of_six((*seat["cards"], view["up_cards"][0])).category.value
    hand = category_name(category, article=True)
    best = f"The best five of your cards and the dealer's first open card are {hand}"
    if "odds" in leg:
        won = money(leg["won"], rules.currency)
        paid = f"paid {leg['odds']} to 1, {won}, and the stake comes back"
        return f"{best}: {paid}. Raising or folding does not change it."
    return f"{best}; this bet pays from {lowest_paid(bet)} up."


def _bonus(seat: Mapping[str, Any], leg: Mapping[str, Any], bet: CompiledSideBet, rules: Rules) -> str:
    if leg["won"]:
        hand = category_name(seat["category"], article=True)
        won = money(leg["won"], rules.currency)
        return f"{_upper(hand)} wins a fixed {won}, paid by the house. The stake does not come back."
    return f"You have {hand_name(seat['cards'])}; this bet pays from {lowest_paid(bet)} up."


def _jackpot(
    view: Mapping[str, Any],
    seat: Mapping[str, Any],
    leg: Mapping[str, Any],
    bet: CompiledSideBet,
    rules: Rules,
) -> str:
    hits = view.get("jackpot_hits", ())
    hit = next((hit for hit in hits if hit["seat"] == seat["seat"]), None)
    if hit is None:
        return f"You have {hand_name(seat['cards'])}; the jackpot pays from {lowest_paid(bet)} up."
    currency = rules.currency
    award = bet.awards[hit["category"]]
    hand = _upper(category_name(hit["category"], article=True))
    won = money(leg["won"], currency)
    before, after = exact(hit["meter_before_exact"], currency), exact(hit["meter_after_exact"], currency)
    moved = f"The meter went from {before} to {after}. The stake does not come back."
    if award.percent == 100:  # noqa: PLR2004 - per cent
        sharing = sum(bet.awards[other["category"]].percent == award.percent for other in hits)
        shared = (
            f", shared equally by the {sharing} hands that have one: {won}"
            if sharing > 1
            else f": {won}, rounded down to the minor unit"
        )
        return f"{hand} wins the whole meter{shared}. {moved}"
    if award.percent is not None:
        return f"{hand} wins {award.percent}% of the meter: {won}. {moved}"
    if award.funding == "house":
        return f"{hand} wins a fixed {won}, paid by the house, not the meter. The stake does not come back."
    held = parse_exact(hit["meter_before_exact"])
    topped = (
        f" The meter held only {before}: the house added what was missing."
        if held < hit["award"] * EXACT
        else ""
    )
    return f"{hand} wins a fixed {won} from the meter.{topped} {moved}"


def _upper(text: str) -> str:
    return text[0].upper() + text[1:]
