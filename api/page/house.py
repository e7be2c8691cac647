"""A house as the page presents it: what its bets pay, its rules in short, how its source was read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from api.page.amounts import money
from api.page.card_words import CATEGORY_NAMES
from api.page.side_bet_words import award_words
from api.page.words import Names, qualifier, word
from domain.events import TableParameters
from domain.rules import CompiledSideBet, Rules
from domain.rulesets.schema import RuleSet

_PLACES: Final = ("first", "second", "third", "fourth", "fifth")


class PayTable(NamedTuple):
    """What a bet pays: `rows` of (hand, payment), and a sentence on what is particular to it."""

    title: str
    rows: tuple[tuple[str, str], ...]
    note: str


@dataclass(frozen=True, slots=True)
class House:
    """What the page needs to know of a table. `limits` are the table's, minor units of its currency."""

    table_id: str
    ruleset: RuleSet
    rules: Rules
    limits: TableParameters
    jackpot_id: str | None

    @property
    def names(self) -> Names:
        """The house's own words."""
        return {what: text for what, text in self.ruleset.names.items()}  # noqa: C416 - plain strings as keys

    @property
    def currency(self) -> str:
        """The table's currency."""
        return self.rules.currency


def pay_tables(house: House) -> list[PayTable]:
    """The payments of the raise and of every side bet the table offers."""
    rules, names = house.rules, house.names
    cap = rules.raise_win_cap
    scope = "one hand" if rules.cap_scope == "raise_per_hand" else "all hands of a player together"
    note = (
        f"At most {money(cap, rules.currency)} on {scope}." if cap is not None else "No limit but the odds."
    )
    rows = tuple((title, f"{rules.raise_pays[category]} to 1") for category, title in CATEGORY_NAMES.items())
    return [
        PayTable(word(names, "raise"), rows, note),
        *(_side_bet(house, kind) for kind in rules.side_bet_order),
    ]


def facts(house: House) -> list[str]:
    """The rules in short, as this table plays them."""
    rules, names, limits = house.rules, house.names, house.limits
    raise_ = word(names, "raise")
    antes = f"Ante {money(limits.min_ante, rules.currency)} to {money(limits.max_ante, rules.currency)}"
    plays = f"The dealer plays with {qualifier(rules)}."
    lines = [
        f"{antes}; the {raise_} is {_times(rules.raise_multiple)} the ante.",
        f"{plays} Otherwise the ante is paid 1 to 1 and the {raise_} comes back.",
        _cards(rules),
    ]
    if rules.shared:
        lines.append("One player hand is dealt, and everybody at the table bets on it.")
    elif rules.hands_per_player > 1:
        lines.append(
            f"You may play up to {rules.hands_per_player} hands in a round; they are decided in their order."
        )
    if rules.exchange_fee_antes is not None:
        fee = "one ante" if rules.exchange_fee_antes == 1 else f"{rules.exchange_fee_antes} antes"
        gone = " and ".join(word(names, kind) for kind in rules.forfeits)
        lines.append(
            f"{word(names, 'exchange')}: one card for {fee}, before you decide."
            + (f" The {gone} goes with it." if gone else "")
        )
    if limits.decision_seconds is not None:
        then = "the hand folds" if rules.on_timeout == "fold" else "the round is void"
        lines.append(f"After {limits.decision_seconds} seconds without a decision {then}.")
    return lines


def readings(house: House) -> tuple[list[str], list[str]]:
    """How unclear sentences of the source are read: the flagged readings, which are ours, and the others."""
    flagged = [" ".join(reading.text.split()) for reading in house.ruleset.readings if reading.flagged]
    others = [" ".join(reading.text.split()) for reading in house.ruleset.readings if not reading.flagged]
    return flagged, others


def stake_of(house: House, bet: CompiledSideBet) -> str:
    """What a side bet costs, in words."""
    if bet.stake is not None:
        return money(bet.stake, house.currency)
    limits = house.limits
    return f"{money(limits.min_side_bet, house.currency)} to {money(limits.max_side_bet, house.currency)}"


def _side_bet(house: House, kind: str) -> PayTable:
    bet, rules = house.rules.side_bets[kind], house.rules
    rows = []
    for category, title in CATEGORY_NAMES.items():
        if category in bet.pays:
            rows.append((title, f"{bet.pays[category]} to 1"))
        elif category in bet.awards:
            rows.append((title, award_words(bet.awards[category], rules.currency)))
    notes = [
        f"Stake {stake_of(house, bet)}.",
        "The stake comes back on a win." if bet.pays else "The stake never comes back.",
    ]
    if kind == "five_plus_one":
        notes.append("Paid by the best five of your cards and the dealer's first open card.")
    notes.append("It stays in play when you fold." if bet.survives_fold else "It is lost with a fold.")
    return PayTable(word(house.names, kind), tuple(rows), " ".join(notes))


def _times(multiple: int) -> str:
    return "twice" if multiple == 2 else f"{multiple} times"  # noqa: PLR2004 - the word for two


def _cards(rules: Rules) -> str:
    places = " and ".join(_PLACES[index] for index in rules.up_indices)
    cards = "card lies" if len(rules.up_indices) == 1 else "cards lie"
    dealt = "one card at a time" if rules.pattern == "round_robin" else "five cards at a time"
    return f"Cards are dealt {dealt}; the dealer's {places} {cards} open."
