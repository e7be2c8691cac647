"""What a seat's decisions were worth and what they cost: the exact odds, asked of a round that has closed.

A hand is judged as its player saw it: five cards, the dealer's up-cards, the money of the round's rules. The
tables that odds are looked up in are made when the first hand of a process is judged, for that takes
about a second and 150 MB, and many processes never judge one.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Protocol, TypeAlias

import orjson

from domain.cards import Card
from domain.events import RulesetRef, TableParameters
from domain.hands import Qualifier
from domain.odds.payoffs import OddsError, Payoffs
from domain.rules import Rules, RulesError, compile_rules
from domain.rulesets.schema import RuleSet, RulesetError
from infrastructure.projections.round_facts import RoundFacts, SeatFacts

if TYPE_CHECKING:
    from domain.odds.exchange_values import ExchangeValues
    from domain.odds.lookup import Judgement

Known: TypeAlias = "Callable[[Qualifier, Payoffs], ExchangeValues | None]"
"""Knows for some payoffs what exchanges are worth; `infrastructure.odds.kept.KeptExchanges` is one."""

DENOMINATOR: Final = 6_853_770
"""What all worths and costs are divided by: 46 C(45, 4), the draws and dealer's hands after an exchange.

It is a multiple of how many hands a dealer with one, two, three or four cards up can have.
"""
GAMES_MAX: Final = 500

BY_PLAYER: Final = "player"
MANY_UP_CARDS: Final = "exchange_with_many_up_cards"
SHARED_CAP: Final = "cap_on_several_hands"
NO_RULES: Final = "rules_without_odds"
UNJUDGED: Final = (MANY_UP_CARDS, SHARED_CAP, NO_RULES)
"""Why a hand is not judged: its exchange was in front of more than one up-card, for which there are no odds;
its player's hands of the round shared one cap, so that none has its own odds; or its rules are not known."""


class Judge(Protocol):
    """Knows the odds; `domain.odds.lookup.Lookup` is one. Both raise OddsError."""

    def judge(
        self,
        payoffs: Payoffs,
        cards: Sequence[Card],
        up_cards: Sequence[Card],
        *,
        known: ExchangeValues | None = None,
        exchanging: Card | None = None,
    ) -> Judgement:
        """What decisions on a hand as dealt are worth; of exchanges at least the best, and `exchanging`."""

    def judge_drawn(
        self, payoffs: Payoffs, cards: Sequence[Card], up_cards: Sequence[Card], given_away: Card
    ) -> Judgement:
        """What folding and raising are worth after an exchange."""


class Verdict(NamedTuple):
    """A seat's decisions. Worths and costs are numerators over `DENOMINATOR`, in minor units.

    `done` and `best` are the first decision and the one that was worth most (``fold``, ``raise``, or the card
    to exchange), `then_done` and `then_best` those after an exchange. `worth` is what the hand as dealt was
    worth, played best; `uncapped` the same if no cap cut what a raise wins; `expected` what was expected when
    all was decided. `cost` is what the player's own decisions fell short by, `forced_cost` those of the clock
    or the operator; `forced` says whether there was such a one. Where `unjudged` names a reason, there is
    nothing else.
    """

    done: str = ""
    done_by: str = ""
    best: str = ""
    then_done: str | None = None
    then_by: str | None = None
    then_best: str | None = None
    worth: int = 0
    uncapped: int = 0
    expected: int = 0
    cost: int = 0
    forced_cost: int = 0
    unjudged: str | None = None

    @property
    def forced(self) -> bool:
        """Whether somebody else than the player decided."""
        return self.done_by != BY_PLAYER or self.then_by not in (None, BY_PLAYER)


@functools.lru_cache(maxsize=16)
def lookup(qualify: Qualifier) -> Judge:
    """Return what knows the odds, for the whole process."""
    from domain.odds.lookup import Lookup  # noqa: PLC0415 - loads a compiler: only where a hand is judged

    return Lookup(qualify)


@functools.cache
def _preparing() -> threading.Thread:
    # A daemon: nobody who stops waits for it.
    thread = threading.Thread(target=lookup, args=("ace_king",), name="odds tables", daemon=True)
    thread.start()
    return thread


def prepared() -> bool:
    """Return whether the tables are there that nearly every game needs; begin to make them if nobody has.

    Once a process. Where that fails, it is over as well: whoever judges a hand then finds what is wrong.
    """
    return not _preparing().is_alive()


def nothing_known(_: Qualifier, __: Payoffs) -> None:
    """Know no payoffs: what exchanges are worth is counted for each hand."""


class Games:
    """The rule sets that were published, and the odds of the games that are played by them.

    `judge_of` gives what knows the odds where a dealer qualifies with a certain hand. Verdicts are the same
    whatever is `known`: where nothing is, an exchange takes some thirty times as long.
    """

    def __init__(self, judge_of: Callable[[Qualifier], Judge] = lookup, known: Known = nothing_known) -> None:
        self._judge_of = judge_of
        self._known = known
        self._documents: dict[tuple[str, int], str] = {}
        self._games: dict[tuple[Any, ...], Game | None] = {}

    def forget(self) -> None:
        """Know no rule set."""
        self._documents.clear()
        self._games.clear()

    def publish(self, ruleset_id: str, version: int, document: str) -> None:
        """Know a version's document, a JSON text."""
        self._documents[ruleset_id, version] = document

    def of(self, opened: Mapping[str, Any]) -> Game | None:
        """Return the game of a round by the data of its opening; None where its rules are not known."""
        ruleset = opened["ruleset"]
        has_jackpot = opened.get("jackpot") is not None
        parameters = tuple(opened["parameters"].items())
        key = ruleset["id"], ruleset["version"], opened["currency"], has_jackpot, parameters
        if key in self._games:
            return self._games[key]
        if len(self._games) >= GAMES_MAX:
            self._games.clear()
        game = self._games[key] = self._game(ruleset, opened, has_jackpot=has_jackpot)
        return game

    def _game(self, ref: Mapping[str, Any], opened: Mapping[str, Any], *, has_jackpot: bool) -> Game | None:
        document = self._documents.get((ref["id"], ref["version"]))
        if document is None:
            return None
        try:
            rules = compile_rules(
                RuleSet.from_document(orjson.loads(document)),
                RulesetRef(**ref),
                opened["currency"],
                TableParameters(**opened["parameters"]),
                has_jackpot=has_jackpot,
            )
        except (RulesetError, RulesError, TypeError):
            return None
        return Game(rules, self._judge_of, self._known)


class Game:
    """The odds of the rounds of one game. `free_side_bets` are kinds whose return no decision changes."""

    def __init__(self, rules: Rules, judge_of: Callable[[Qualifier], Judge], known: Known) -> None:
        self.rules = rules
        self._uncapped = replace(rules, raise_win_cap=None)
        self._judge_of = judge_of
        self._known = known
        self._money: dict[int, tuple[Payoffs, Payoffs, int]] = {}
        self.free_side_bets = tuple(
            kind
            for kind, bet in rules.side_bets.items()
            if bet.pays and bet.survives_fold and not bet.needs_dealer_to_qualify
            if kind not in rules.forfeits and rules.exchange_fee_antes is None
        )

    def verdicts(self, facts: RoundFacts) -> dict[int, Verdict]:
        """Return what is to be said of each seat of a round that has closed."""
        known: dict[tuple[Any, ...], Verdict] = {}
        return {number: self._verdict(facts, seat, known) for number, seat in facts.seats.items()}

    def _verdict(self, facts: RoundFacts, seat: SeatFacts, known: dict[tuple[Any, ...], Verdict]) -> Verdict:
        """Return a seat's. `known` has those of seats with the same cards and stakes of a proportion."""
        rules = self.rules
        if rules.exchange_fee_antes is not None and len(facts.up_cards) > 1:
            return Verdict(unjudged=MANY_UP_CARDS)
        if rules.cap_scope == "aggregate" and len(facts.seats_of[seat.player]) > 1:
            return Verdict(unjudged=SHARED_CAP)
        try:
            payoffs, uncapped, unit = self._of_ante(seat.ante)
            cards = facts.shared or seat.cards
            key = (cards, payoffs, seat.decision, seat.decided_by, seat.exchanged_by)
            verdict = known.get(key)
            if verdict is None:
                verdict = known[key] = self._judged(payoffs, uncapped, cards, facts.up_cards, seat)
        except OddsError:
            return Verdict(unjudged=NO_RULES)
        if unit == 1:
            return verdict
        return verdict._replace(
            worth=verdict.worth * unit,
            uncapped=verdict.uncapped * unit,
            expected=verdict.expected * unit,
            cost=verdict.cost * unit,
            forced_cost=verdict.forced_cost * unit,
        )

    def _of_ante(self, ante: int) -> tuple[Payoffs, Payoffs, int]:
        """Return the money at an ante and without a cap, both in the first one's unit, and that unit."""
        found = self._money.get(ante)
        if found is None:
            if len(self._money) >= GAMES_MAX:
                self._money.clear()
            payoffs = Payoffs.from_rules(self.rules, ante)
            uncapped = Payoffs.from_rules(self._uncapped, ante)
            unit = payoffs.unit
            # Without a cap the unit is the ante, which every unit divides.
            found = replace(payoffs, unit=1), replace(uncapped, unit=uncapped.unit // unit), unit
            self._money[ante] = found
        return found

    def _judged(
        self,
        payoffs: Payoffs,
        uncapped: Payoffs,
        cards: tuple[Card, ...],
        up_cards: tuple[Card, ...],
        seat: SeatFacts,
    ) -> Verdict:
        judge = self._judge_of(self.rules.qualify)
        exchanged = seat.discard is not None and seat.drawn is not None
        dealt = _as_dealt(cards, seat)
        # Without a cap there is one table for all antes, which tells of most hands what it is worth with one.
        known = None if payoffs.fee is None else self._known(self.rules.qualify, uncapped)
        given_away = seat.discard if exchanged else None
        first = judge.judge(payoffs, dealt, up_cards, known=known, exchanging=given_away)
        worth = _numerator(first, first.best)
        free = worth if uncapped == payoffs else _best(judge.judge(uncapped, dealt, up_cards, known=known))
        decision, decided_by = seat.decision or "fold", seat.decided_by or ""
        if not exchanged:
            done = _numerator(first, decision)
            costs = _costs((decided_by, worth - done))
            return Verdict(decision, decided_by, first.best, None, None, None, worth, free, done, *costs)
        discard, exchanged_by = seat.discard or "", seat.exchanged_by or ""
        last = judge.judge_drawn(payoffs, cards, up_cards, discard)
        done = _numerator(last, decision)
        costs = _costs((exchanged_by, worth - _numerator(first, discard)), (decided_by, _best(last) - done))
        return Verdict(
            discard, exchanged_by, first.best, decision, decided_by, last.best, worth, free, done, *costs
        )


def _as_dealt(cards: tuple[Card, ...], seat: SeatFacts) -> tuple[Card, ...]:
    """The cards a seat was dealt: the one that it drew stands where the one that it gave away was."""
    if seat.discard is None:
        return cards
    return tuple([seat.discard if card == seat.drawn else card for card in cards])


def _costs(*decisions: tuple[str, int]) -> tuple[int, int]:
    """Return what decisions cost: the player's own, and those that were made for the player."""
    own = sum([cost for by, cost in decisions if by == BY_PLAYER])
    return own, sum([cost for _, cost in decisions]) - own


def _best(judgement: Judgement) -> int:
    return _numerator(judgement, judgement.best)


def _numerator(judgement: Judgement, option: str) -> int:
    return judgement.numerators[option] * (DENOMINATOR // judgement.denominator)
