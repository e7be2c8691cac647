"""What every decision was worth against the best one, and what each version of the rules returned by them.

A hand's result has three parts: what its cards were worth, what its player's decisions cost, and luck. The
rows tell the first two exactly, so that a report can leave the third out. Of a hand nothing is written before
its round has closed (G5), and of a void round nothing at all.

Whether a version returns what it should is told by the results of its rounds, with the cost of decisions
added: their expectation is the theory's whoever plays (`domain.odds.monitoring`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final

import orjson

from domain.odds.monitoring import SCALE
from infrastructure.projections.judging import DENOMINATOR, NO_RULES, UNJUDGED, Games, Verdict
from infrastructure.projections.kinds import Column, Happened, Out, Shelf, Table
from infrastructure.projections.performance import PERFORMANCE
from infrastructure.projections.round_facts import Cell, RoundFacts, SeatFacts

DECISIONS: Final = Table(
    "decisions",
    (
        Column("ended_position", "bigint"),
        Column("seat", "smallint"),
        Column("round_id", "text"),
        Column("done", "text"),
        Column("done_by", "text"),
        Column("best", "text"),
        Column("then_done", "text"),
        Column("then_by", "text"),
        Column("then_best", "text"),
        Column("worth", "numeric(40,0)"),
        Column("uncapped", "numeric(40,0)"),
        Column("expected", "numeric(40,0)"),
        Column("cost", "numeric(40,0)"),
        Column("forced_cost", "numeric(40,0)"),
        Column("unjudged", "text"),
    ),
    key=("round_id", "seat"),
    mode="insert",
)
"""The columns from `done` on are those of `judging.Verdict`; amounts are numerators over
`judging.DENOMINATOR`, in minor units. Where a hand is not judged, `unjudged` says why, and the others are
null."""

FIGURES: Final = (
    "hands",
    "forced_hands",
    "mistaken_hands",
    *(f"unjudged_{reason}" for reason in UNJUDGED),
    "antes",
    "net",
)
EXACT_FIGURES: Final = ("worth", "uncapped", "expected", "cost", "forced_cost")

DECISION_FIGURES: Final = Table(
    "decision_figures",
    (
        *PERFORMANCE.columns[: len(PERFORMANCE.key)],
        *(Column(name, "bigint") for name in FIGURES),
        *(Column(name, "numeric(48,0)") for name in EXACT_FIGURES),
    ),
    key=PERFORMANCE.key,
    mode="add",
)
"""By the cells of `performance`, of the hands that were judged: how many, how many somebody else than the
player decided, of how many the player's decisions were not the best, and how many were not judged, by reason;
their antes and what they won or lost net, without side bets; and the sums of the columns of `DECISIONS`."""

RETURNS: Final = Table(
    "returns",
    (
        Column("ruleset_id", "text"),
        Column("ruleset_version", "integer"),
        Column("account_class", "text"),
        Column("series", "text"),
        Column("rounds", "bigint"),
        Column("results", "numeric(40,0)"),
        Column("squares", "numeric(60,0)"),
    ),
    key=("ruleset_id", "ruleset_version", "account_class", "series"),
    mode="add",
)
"""`domain.odds.monitoring.Sums` by series: ``game`` is what an ante won or lost with the main bet, the cost
of decisions and what a cap took from the hand's worth added; ``cards`` what an ante's hand was worth as
dealt, without a cap; and a kind of side bet what a unit of its stake won or lost."""

RULES: Final = Table(
    "decision_rules",
    (Column("ruleset_id", "text"), Column("ruleset_version", "integer"), Column("document", "text")),
    key=("ruleset_id", "ruleset_version"),
    mode="insert",
)
"""The rule sets' documents as they were published: what a projection knows, it knows from its own rows."""

GAME: Final = "game"
CARDS: Final = "cards"
MAIN_BET: Final = frozenset(("ante", "raise", "exchange_fee"))
_COLUMNS: Final = (*FIGURES, *EXACT_FIGURES)
_Series = tuple[str, int, str, str]


class Decisions:
    """The projection. `games` knows the odds."""

    name = "decisions"
    version = 1
    tables = (DECISIONS, DECISION_FIGURES, RETURNS, RULES)
    types: frozenset[str] | None = frozenset(("RulesetPublished", "RoundClosed"))
    rounds = True

    def __init__(self, games: Callable[[], Games] = Games) -> None:
        self._games = games()
        self._figures: dict[Cell, list[int]] = {}
        self._returns: dict[_Series, list[int]] = {}

    def restore(self, shelf: Shelf, position: int) -> None:  # noqa: ARG002 - the rows are as of there
        """Know the rule sets again."""
        self._forget()
        self._games.forget()
        for ruleset_id, version, document in shelf.whole(RULES.name):
            self._games.publish(ruleset_id, version, document)

    def begin(self, batch: Sequence[Happened], shelf: Shelf) -> None:  # noqa: ARG002 - nothing is to be read
        """Forget what was not put."""
        self._forget()

    def event(self, happened: Happened, facts: RoundFacts | None, out: Out) -> None:
        """Judge a round that closes; note a rule set that is published."""
        if facts is not None:
            self._judge(facts, out)
            return
        data = happened.data
        document = orjson.dumps(data["content"], option=orjson.OPT_SORT_KEYS).decode()
        out.put("decision_rules", (data["ruleset_id"], data["ruleset_version"], document))
        self._games.publish(data["ruleset_id"], data["ruleset_version"], document)

    def finish(self, last: Happened, out: Out) -> None:  # noqa: ARG002 - what is put depends on no time
        """Put the sums."""
        for cell, figures in self._figures.items():
            out.put("decision_figures", (*cell, *figures))
        for series, sums in self._returns.items():
            out.put("returns", (*series, *sums))
        self._forget()

    def _forget(self) -> None:
        self._figures.clear()
        self._returns.clear()

    def _judge(self, facts: RoundFacts, out: Out) -> None:
        game = self._games.of(facts.opened)
        if game is None:
            verdicts = dict.fromkeys(facts.seats, Verdict(unjudged=NO_RULES))
        else:
            verdicts = game.verdicts(facts)
            self._note_side_bets(facts, game.free_side_bets)
        for number, verdict in verdicts.items():
            out.put("decisions", (facts.ended_position, number, facts.round_id, *_columns(verdict)))
        figures = self._figures.setdefault(facts.cell, [0] * len(_COLUMNS))
        judged = []
        for number, verdict in verdicts.items():
            seat = facts.seats[number]
            if verdict.unjudged is not None:
                figures[_COLUMNS.index(f"unjudged_{verdict.unjudged}")] += 1
            else:
                net = net_of(seat, MAIN_BET)
                judged.append((seat.ante, net, verdict))
                _add(figures, seat.ante, net, verdict)
        self._note_returns(facts, judged)

    def _note_returns(self, facts: RoundFacts, judged: Sequence[tuple[int, int, Verdict]]) -> None:
        """Note what the round came to: one result for all its hands, which share their dealer."""
        staked = sum([ante for ante, _, _ in judged]) * DENOMINATOR
        if staked:
            worth = sum([verdict.uncapped for _, _, verdict in judged])
            result = sum([net * DENOMINATOR + made_up_for(verdict) for _, net, verdict in judged])
            self._note(facts, GAME, result, staked)
            self._note(facts, CARDS, worth, staked)

    def _note_side_bets(self, facts: RoundFacts, kinds: Iterable[str]) -> None:
        """Note what side bets of these kinds came to."""
        for kind in kinds:
            seats = [seat for seat in facts.seats.values() if kind in seat.side_bets]
            if seats:
                staked = sum([seat.side_bets[kind] for seat in seats])
                self._note(facts, kind, sum([net_of(seat, {kind}) for seat in seats]), staked)

    def _note(self, facts: RoundFacts, series: str, result: int, staked: int) -> None:
        ruleset = facts.opened["ruleset"]
        key = ruleset["id"], ruleset["version"], facts.account_class, series
        sums = self._returns.setdefault(key, [0, 0, 0])
        scaled = result * SCALE // staked
        sums[0] += 1
        sums[1] += scaled
        sums[2] += scaled**2


def net_of(seat: SeatFacts, bets: Iterable[str]) -> int:
    """What bets of a seat that is settled won or lost."""
    legs: Sequence[Mapping[str, Any]] = seat.settled["bets"] if seat.settled is not None else ()
    return sum([leg["returned"] + leg["won"] - leg["stake"] for leg in legs if leg["bet"] in bets])


def made_up_for(verdict: Verdict) -> int:
    """What decisions cost, and what the cap took from the worth of a hand as dealt."""
    return verdict.cost + verdict.forced_cost + verdict.uncapped - verdict.worth


def _columns(verdict: Verdict) -> tuple[Any, ...]:
    if verdict.unjudged is not None:
        return (*([None] * (len(verdict) - 1)), verdict.unjudged)
    return tuple(verdict)


def _add(figures: list[int], ante: int, net: int, verdict: Verdict) -> None:
    """Add a hand that was judged, in the order of `_COLUMNS`."""
    hand = (
        1,
        int(verdict.forced),
        int(verdict.cost > 0),
        *([0] * len(UNJUDGED)),
        ante,
        net,
        verdict.worth,
        verdict.uncapped,
        verdict.expected,
        verdict.cost,
        verdict.forced_cost,
    )
    for place, value in enumerate(hand):
        figures[place] += value
