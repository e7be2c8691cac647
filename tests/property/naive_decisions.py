"""Decisions a second time: in fractions, by the rules as they are compiled, one hand after the other."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import floor
from typing import Any

from domain import events as ev
from domain.envelope import Recorded
from domain.hands import CATEGORIES, Qualifier
from domain.odds.lookup import Lookup
from domain.odds.payoffs import Payoffs
from domain.round import Round, Seat, evolve
from domain.rules import Rules, compile_rules
from domain.rulesets.schema import RuleSet
from tests.property.naive_books import NaiveBooks, Rows

DENOMINATOR = 46 * 148_995
BILLION = 10**9


@lru_cache
def lookup(qualify: Qualifier) -> Lookup:
    """Return the odds of states."""
    return Lookup(qualify)


@dataclass(frozen=True)
class Hand:
    """A seat of a round that closed, and what was worth what: fractions of minor units."""

    seat: Seat
    opened: ev.RoundOpened
    taken: list[tuple[str, str, dict[str, Fraction]]]
    uncapped: Fraction

    @property
    def costs(self) -> list[tuple[str, Fraction]]:
        """Return who decided, and what each decision cost."""
        return [(by, max(worth.values()) - worth[option]) for option, by, worth in self.taken]

    def cost(self, *, by_player: bool) -> Fraction:
        """Return what decisions of the player cost, or of others."""
        return sum((cost for by, cost in self.costs if (by == "player") == by_player), Fraction(0))

    @property
    def worth(self) -> Fraction:
        """Return what the hand as dealt was worth."""
        return max(self.taken[0][2].values())

    @property
    def expected(self) -> Fraction:
        """Return what was expected of the last decision."""
        option, _, worth = self.taken[-1]
        return worth[option]

    def net(self, *bets: str) -> int:
        """Return what bets won or lost."""
        assert self.seat.settled is not None
        return sum(b.returned + b.won - b.stake for b in self.seat.settled.bets if b.bet in bets)

    @property
    def main(self) -> int:
        """Return what the main bet won or lost."""
        return self.net("ante", "raise", "exchange_fee")


class NaiveDecisions(NaiveBooks):
    """What the tables of decisions should hold."""

    def _closed(self) -> Iterator[tuple[Round, list[Recorded], Rules]]:
        published = {(e.ruleset_id, e.ruleset_version): e for e in self.events(ev.RulesetPublished)}
        for events in self.rounds.values():
            state: Round | None = None
            for each in events:
                state = evolve(state, each.stream, each.event)
            if state is not None and isinstance(events[-1].event, ev.RoundClosed):
                opened = state.opened
                content = published[opened.ruleset.id, opened.ruleset.version].content
                rules = compile_rules(
                    RuleSet.from_document(content),
                    opened.ruleset,
                    opened.currency,
                    opened.parameters,
                    has_jackpot=opened.jackpot is not None,
                )
                yield state, events, rules

    def _hands(self, state: Round, events: Iterable[Recorded], rules: Rules) -> list[Hand]:
        return [self._hand(state, seat, events, rules) for seat in state.seats.values()]

    def _hand(self, state: Round, seat: Seat, events: Iterable[Recorded], rules: Rules) -> Hand:
        cards, ups = tuple(state.hand(seat)), tuple(state.up_cards)
        bought = [e.event for e in events if isinstance(e.event, ev.CardExchanged)]
        taken: list[tuple[str, str, dict[str, Fraction]]] = []
        dealt = cards
        gone: tuple[str, ...] = ()
        for exchange in (each for each in bought if each.seat == seat.seat):
            dealt = tuple(exchange.discard if card == exchange.drawn else card for card in cards)
            gone = (exchange.discard,)
            taken.append((exchange.discard, exchange.decided_by, worths(rules, seat.ante, dealt, ups)))
        decision = {"folded": "fold", "raised": "raise"}[seat.step]
        taken.append((decision, str(seat.decided_by), worths(rules, seat.ante, cards, ups, gone)))
        free = worths(rules, seat.ante, dealt, ups, capped=False)
        return Hand(seat, state.opened, taken, max(free.values()))

    def decisions(self) -> Rows:
        """Return the decisions on every hand of every round that closed."""
        rows = []
        for state, events, rules in self._closed():
            for hand in self._hands(state, events, rules):
                (done, done_by, worth), *rest = hand.taken
                then, then_by, then_worth = rest[0] if rest else (None, None, {})
                rows.append(
                    {
                        "ended_position": events[-1].position,
                        "seat": hand.seat.seat,
                        "round_id": state.id,
                        "done": done,
                        "done_by": done_by,
                        "best": best_of(worth),
                        "then_done": then,
                        "then_by": then_by,
                        "then_best": best_of(then_worth) if rest else None,
                        **told(hand),
                    }
                )
        return rows

    def decision_figures(self) -> Rows:
        """Return the sums of every cell."""
        cells: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for state, events, rules in self._closed():
            key = self.cell(state.opened, events[0])
            for hand in self._hands(state, events, rules):
                cells[key].update(
                    {
                        "hands": 1,
                        "forced_hands": int(any(by != "player" for _, by, _ in hand.taken)),
                        "mistaken_hands": int(hand.cost(by_player=True) > 0),
                        "antes": hand.seat.ante,
                        "net": hand.main,
                        **told(hand),
                    }
                )
        names = ["gaming_day", "hour_us", "table_id", "ruleset_id", "ruleset_version"]
        names += ["jackpot_id", "jackpot_version", "currency", "account_class"]
        numbers = ["worth", "uncapped", "expected", "cost", "forced_cost"]
        return [
            {**dict(zip(names, key, strict=True)), **dict.fromkeys(numbers, 0), **figures}
            for key, figures in cells.items()
        ]

    def returns(self) -> Rows:
        """Return the sums of every series: a round counts once, whoever bet on it."""
        found: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for state, events, rules in self._closed():
            opened = state.opened
            hands = self._hands(state, events, rules)
            antes = sum(hand.seat.ante for hand in hands)
            made_up = sum(
                hand.main
                + hand.cost(by_player=True)
                + hand.cost(by_player=False)
                + hand.uncapped
                - hand.worth
                for hand in hands
            )
            series = {"game": made_up / antes, "cards": sum(hand.uncapped for hand in hands) / antes}
            bonus = [hand for hand in hands if "five_plus_one" in hand.seat.side_bets]
            if bonus:
                staked = sum(hand.seat.side_bets["five_plus_one"] for hand in bonus)
                series["five_plus_one"] = Fraction(sum(hand.net("five_plus_one") for hand in bonus), staked)
            for name, result in series.items():
                scaled = floor(result * BILLION)
                key = opened.ruleset.id, opened.ruleset.version, opened.account_class, name
                found[key].update({"rounds": 1, "results": scaled, "squares": scaled**2})
        names = ["ruleset_id", "ruleset_version", "account_class", "series"]
        return [{**dict(zip(names, key, strict=True)), **sums} for key, sums in found.items()]

    def decision_rules(self) -> Rows:
        """Return every rule set that was published."""
        return [
            {
                "ruleset_id": each.ruleset_id,
                "ruleset_version": each.ruleset_version,
                "document": json.dumps(
                    each.content, sort_keys=True, separators=(",", ":"), ensure_ascii=False
                ),
            }
            for each in self.events(ev.RulesetPublished)
        ]

    def cell(self, opened: ev.RoundOpened, first: Recorded) -> tuple[Any, ...]:
        """Return the cell of a round."""
        raise NotImplementedError


def worths(
    rules: Rules,
    ante: int,
    cards: tuple[str, ...],
    ups: tuple[str, ...],
    gone: tuple[str, ...] = (),
    *,
    capped: bool = True,
) -> dict[str, Fraction]:
    """Return what each decision on a hand is worth, an exchange's fee counted."""
    odds = lookup(rules.qualify)
    counts = odds.counts(cards, ups, gone)
    raised = ante * rules.raise_multiple
    wins = [raised * rules.raise_pays[category.value] for category in CATEGORIES]
    if capped and rules.raise_win_cap is not None:
        wins = [min(win, rules.raise_win_cap) for win in wins]
    value = counts.not_qualified * ante + counts.win * (ante + wins[counts.category])
    paid = ante * (rules.exchange_fee_antes or 0) if gone else 0
    found = {
        "fold": Fraction(-ante - paid),
        "raise": Fraction(value - counts.lose * (ante + raised), counts.total) - paid,
    }
    if rules.exchange_fee_antes is not None and not gone:
        money = Payoffs(ante, raised, tuple(wins), ante * rules.exchange_fee_antes, 1)
        judged = odds.judge(money, cards, ups)
        found |= {card: judged.value(card) for card in cards}
    return found


def best_of(worth: dict[str, Fraction]) -> str:
    """Return the option worth most: of equal ones fold, then raise, then the lowest card."""
    most = max(worth.values())
    options = [option for option in worth if worth[option] == most]
    return min(
        options, key=lambda option: (["fold", "raise"].index(option) if len(option) > 2 else 2, option)
    )


def told(hand: Hand) -> dict[str, int]:
    """Return the amounts of a hand as they are kept."""
    amounts = {
        "worth": hand.worth,
        "uncapped": hand.uncapped,
        "expected": hand.expected,
        "cost": hand.cost(by_player=True),
        "forced_cost": hand.cost(by_player=False),
    }
    scaled = {name: amount * DENOMINATOR for name, amount in amounts.items()}
    assert all(amount.denominator == 1 for amount in scaled.values())
    return {name: int(amount) for name, amount in scaled.items()}
