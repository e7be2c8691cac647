"""What became of a hand, in words: from a round as the HTTP contract shows it, and the house's rules.

Pure functions over the view's plain values. They repeat what the ledger decided and say by which rule; they
decide nothing themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from api.page.amounts import money
from api.page.card_words import category_name, hand_name, kickers
from api.page.side_bet_words import side_bet_sentences
from domain.rules import Rules

Names = Mapping[str, str]
"""The house's own words for its bets and decisions."""

_BET_NAMES: Final = {
    "ante": "ante",
    "raise": "raise",
    "fold": "fold",
    "exchange": "exchange",
    "exchange_fee": "price of the card",
    "jackpot": "jackpot",
    "five_plus_one": "5+1 bonus",
    "bonus": "bonus",
}


class BetWords(NamedTuple):
    """One bet of a settled seat, and why: amounts in minor units, `odds` as «3 to 1» where any were."""

    bet: str
    name: str
    stake: int
    returned: int
    won: int
    odds: str | None
    sentence: str


def word(names: Names, what: str) -> str:
    """The house's own word for a bet or a decision, or the ordinary one."""
    return names.get(what, _BET_NAMES[what])


def qualifier(rules: Rules) -> str:
    """What a dealer needs to play."""
    if rules.qualify == "ace_king":
        return "an ace and a king, or any better hand"
    return f"{category_name(rules.qualify, article=True)} or better"


def headline(seat: Mapping[str, Any]) -> str:
    """The result of a settled seat in a few words."""
    return {
        "win": "You win",
        "lose": "The dealer wins",
        "push": "A tie",
        "dealer_not_qualified": "The dealer does not qualify",
        "folded": "You folded",
        "void": "The round is void",
    }[seat["result"]]


def verdict(view: Mapping[str, Any], seat: Mapping[str, Any], rules: Rules) -> str:
    """Why a seat's main bet ended as it did: the two hands, and the rule that compares them."""
    result = seat["result"]
    if result == "void":
        return f"The round was declared void ({_cause(view)}). Every stake comes back."
    dealer = view.get("dealer", {})
    if result == "folded":
        how = (
            "The time to decide ran out, and the hand folded"
            if seat["decided_by"] == "timeout"
            else "The hand folded"
        )
        shown = f" The dealer held {hand_name(dealer['cards'])}." if dealer else ""
        return f"{how} with {hand_name(seat['cards'])}.{shown}"
    theirs, mine = dealer["cards"], seat["cards"]
    if result == "dealer_not_qualified":
        needed = f"The dealer has {hand_name(theirs)} and needs {qualifier(rules)}."
        return f"{needed} Your hand is {hand_name(mine)}; it is not compared."
    return _compared(mine, theirs, result)


def explain(view: Mapping[str, Any], seat: Mapping[str, Any], rules: Rules, names: Names) -> list[BetWords]:
    """Every bet of a settled or refunded seat, in the order in which the ledger settled them."""
    return [_bet(view, seat, leg, rules, names) for leg in seat.get("bets", ())]


def _compared(mine: list[str], theirs: list[str], result: str) -> str:
    my_name, their_name = hand_name(mine), hand_name(theirs)
    if result == "push":
        equal = "all five ranks are equal: neither wins. Suits never count."
        return f"You and the dealer both hold {my_name}, and {equal}"
    better = "Your hand is" if result == "win" else "The dealer's hand is"
    if my_name != their_name:
        return f"You hold {my_name}; the dealer holds {their_name}. {better} the better one."
    differing = kickers(mine, theirs)
    decided = (
        f" The first rank that differs decides: your {differing[0]} against the dealer's {differing[1]}."
        if differing
        else ""
    )
    return f"You and the dealer both hold {my_name}.{decided}"


def _cause(view: Mapping[str, Any]) -> str:
    causes = {
        "misdeal_count": "a misdeal: a wrong number of cards",
        "misdeal_exposed": "a misdeal: a card was exposed",
        "malfunction": "a malfunction",
        "timeout": "the time ran out",
        "expired": "nobody placed a stake in time",
    }
    cause = str(view.get("void_cause", "no cause is recorded"))
    return causes.get(cause, cause.replace("_", " "))


def _bet(
    view: Mapping[str, Any], seat: Mapping[str, Any], leg: Mapping[str, Any], rules: Rules, names: Names
) -> BetWords:
    bet = leg["bet"]
    name = word(names, "exchange") if bet == "exchange_fee" else word(names, bet)
    if seat["result"] == "void":
        sentence = "The round is void: the stake comes back."
    elif bet == "ante":
        sentence = _ante(seat, leg, rules)
    elif bet == "raise":
        sentence = _raise(seat, leg, rules, name)
    elif bet == "exchange_fee":
        sentence = f"The price of a card, {_antes(rules)}. It is taken at once and never comes back."
    else:
        sentence = side_bet_sentences(view, seat, leg, rules, word(names, "exchange"))
    odds = f"{leg['odds']} to 1" if "odds" in leg else None
    return BetWords(bet, name, leg["stake"], leg["returned"], leg["won"], odds, sentence)


def _antes(rules: Rules) -> str:
    fee = rules.exchange_fee_antes or 0
    return "one ante" if fee == 1 else f"{fee} antes"


def _ante(seat: Mapping[str, Any], leg: Mapping[str, Any], rules: Rules) -> str:
    stake, won = money(leg["stake"], rules.currency), money(leg["won"], rules.currency)
    match seat["result"]:
        case "win":
            return f"A winning ante is paid 1 to 1: {won}, and the stake comes back."
        case "dealer_not_qualified":
            paid = "When the dealer does not qualify, the ante is paid 1 to 1 whatever you hold"
            return f"{paid}: {won}, and the stake comes back."
        case "push":
            return "A tie: the stake comes back, nothing is won."
        case "folded":
            return f"A fold gives up the ante of {stake}."
        case _:
            return f"The dealer's hand is better: the ante of {stake} is lost."


def _raise(seat: Mapping[str, Any], leg: Mapping[str, Any], rules: Rules, name: str) -> str:
    match seat["result"]:
        case "win":
            return _raise_won(seat, leg, rules, name)
        case "dealer_not_qualified":
            return (
                f"The dealer does not qualify, so the {name} is not in play: it comes back and wins nothing."
            )
        case "push":
            return "A tie: the stake comes back, nothing is won."
        case _:
            return (
                f"The dealer's hand is better: the {name} of {money(leg['stake'], rules.currency)} is lost."
            )


def _raise_won(seat: Mapping[str, Any], leg: Mapping[str, Any], rules: Rules, name: str) -> str:
    category, odds = seat["category"], leg["odds"]
    hand = "a hand below a pair" if category == "high_card" else category_name(category, article=True)
    full = leg["stake"] * odds
    paid = f"The {name} pays {odds} to 1 for {hand}"
    if leg["won"] == full:
        return f"{paid}: {money(full, rules.currency)}, and the stake comes back."
    cap = money(rules.raise_win_cap or 0, rules.currency)
    scope = "one hand" if rules.cap_scope == "raise_per_hand" else "all of a player's hands in a round"
    limit = f"This table pays at most {cap} on the {name} of {scope}"
    won = money(leg["won"], rules.currency)
    return f"{paid}, which would be {money(full, rules.currency)}. {limit}: {won}, and the stake comes back."
