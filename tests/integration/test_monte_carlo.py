"""Every shipped house, played at random and settled as real rounds are, keeps its exact odds."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any, Final

import numpy as np
import orjson
import pytest

from api.cli.monte_carlo.command import best_decisions
from api.cli.monte_carlo.comparing import Comparison
from api.cli.monte_carlo.deals import PORTION_ROUNDS, deal
from api.cli.monte_carlo.decisions import Decisions
from api.cli.monte_carlo.playing import Game
from api.cli.monte_carlo.running import Family, check_meter, judged, played, stakes
from api.cli.monte_carlo.theory import bets, comparisons
from api.cli.odds import main
from domain.cards import DECK
from domain.odds.basis import Basis
from domain.odds.exchange_values import EXCHANGE, FOLD, RAISE
from domain.odds.house import HouseOdds, TableSettings
from domain.odds.lookup import Lookup
from domain.odds.payoffs import OddsError
from domain.rules import CompiledAward
from domain.rulesets import SHIPPED
from domain.rulesets.schema import RuleSet
from domain.settlement import settle
from infrastructure.bootstrap import shipped_documents
from infrastructure.odds.computing import keep_basis, odds_of
from infrastructure.odds.shelf import Shelf

ROUNDS: Final = 100_000
FEW: Final = 20_000
HANDS: Final = 300
SEED: Final = 2026
ANTE: Final = 10_000
"""So much that the caps of `us-casino` and of this `czech` table cut what the best hands win."""
METER: Final = 10_000_000
SETTINGS: Final = {"czech": TableSettings(raise_win_cap=350_000, bonus_stake=5_000)}
HOUSES: Final = {ruleset.id: ruleset for ruleset in map(RuleSet.from_document, shipped_documents())}
AMOUNTS: Final = "rounds with other amounts"


@pytest.fixture(scope="module")
def folder(basis: Basis, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a shelf's folder with the basis, which keeps what the tests count besides."""
    path = tmp_path_factory.mktemp("odds")
    keep_basis(Shelf(path), basis)
    return path


class Houses:
    """The houses' exact odds at `ANTE` in their first currencies, and best decisions, counted once each."""

    def __init__(self, folder: Path) -> None:
        self._shelf = Shelf(folder)
        self._odds: dict[str, HouseOdds] = {}
        self._decisions: dict[str, Decisions] = {}

    def odds(self, house: str) -> HouseOdds:
        """Return the odds of a house."""
        if house not in self._odds:
            ruleset = HOUSES[house]
            asked = ruleset.currencies[0], ANTE, SETTINGS.get(house, TableSettings())
            self._odds[house] = odds_of(ruleset, *asked, self._shelf)
        return self._odds[house]

    def game(self, house: str, **changes: Any) -> Game:
        """Return its game by the best decisions, with rules other than those of its odds."""
        odds = self.odds(house)
        if house not in self._decisions:
            self._decisions[house] = best_decisions(odds, self._shelf, lambda _: None)
        rules = replace(odds.rules, **changes)
        return Game(rules, odds.ante, stakes(odds), METER, self._decisions[house], SEED)


@pytest.fixture(scope="module")
def houses(folder: Path) -> Houses:
    """Return the houses."""
    return Houses(folder)


def seen(odds: HouseOdds, game: Game, rounds: int) -> list[Comparison]:
    """Play, and return all comparisons."""
    tally = played(game, rounds, 1, lambda *_: None)
    return judged(odds, game, tally, rounds, Family(tuple(HOUSES.values()), HOUSES["nordic"]).tolerance)


def wrong(found: list[Comparison]) -> dict[tuple[str, str], float]:
    """Return what disagrees, bets and figures, with what was seen of it."""
    return {(c.bet, c.figure): c.seen for c in found if not c.agrees}


@pytest.mark.parametrize("house", SHIPPED)
def test_a_house_returns_what_it_should(house: str, houses: Houses) -> None:
    """Results, decisions, wins by category and side bets are seen as often as the exact odds say.

    All of what may fail by chance has been counted for the family that bounds are made for, and what bets
    should return is what their endings come to.
    """
    odds = houses.odds(house)
    game = houses.game(house)
    found = seen(odds, game, ROUNDS)
    assert wrong(found) == {}
    assert sum(comparison.method != "exact" for comparison in found) == comparisons(HOUSES[house])
    for bet in bets(odds, game.side_bets, METER):
        assert sum(chance.probability for chance in bet.chances.values()) == 1
        for mean in bet.means:
            amounts = (
                chance.probability * (chance.net if mean.what == "net" else chance.staked)
                for chance in bet.chances.values()
            )
            assert sum(amounts, Fraction(0)) == mean.expected * mean.units


def test_a_flush_paid_too_well_is_found(houses: Houses) -> None:
    """Where a flush pays 6 and the odds are of 5, every flush that wins is seen to be paid something else."""
    odds = houses.odds("nordic")
    game = houses.game("nordic", raise_pays={**odds.rules.raise_pays, "flush": 6})
    found = seen(odds, game, FEW)
    flushes = next(comparison.seen for comparison in found if comparison.figure == "win with flush")
    assert wrong(found) == {("main", AMOUNTS): flushes}
    assert flushes > 0


def test_a_pair_paid_too_well_is_found_in_the_result_too(houses: Houses) -> None:
    """Where a pair pays 2 and the odds are of 1, what a round returns is far beyond chance."""
    odds = houses.odds("nordic")
    found = seen(odds, houses.game("nordic", raise_pays={**odds.rules.raise_pays, "pair": 2}), FEW)
    assert set(wrong(found)) == {("main", AMOUNTS), ("main", "result per ante")}


def test_a_cap_that_the_odds_do_not_know_is_found(houses: Houses) -> None:
    """Where the house cuts what full houses win, and the odds do not, every such win is seen."""
    odds = houses.odds("nordic")
    game = houses.game("nordic", raise_win_cap=6 * 2 * ANTE, cap_scope="raise_per_hand")
    assert set(wrong(seen(odds, game, FEW))) == {("main", AMOUNTS)}


def test_a_side_bet_paid_otherwise_is_found(houses: Houses) -> None:
    """A 5+1 Bonus with other odds, and a jackpot with other awards, are found by the bets that they are."""
    odds = houses.odds("evolution-live")
    bet = odds.rules.side_bets["five_plus_one"]
    changed = replace(bet, pays={**bet.pays, "straight": 11})
    found = seen(odds, houses.game("evolution-live", side_bets={"five_plus_one": changed}), FEW)
    assert set(wrong(found)) == {("five_plus_one", AMOUNTS)}
    odds = houses.odds("nordic")
    bet = odds.rules.side_bets["jackpot"]
    changed = replace(bet, awards={**bet.awards, "straight": CompiledAward(None, 100, "house")})
    found = seen(odds, houses.game("nordic", side_bets={"jackpot": changed}), FEW)
    assert set(wrong(found)) == {("jackpot", AMOUNTS)}


def test_another_way_of_deciding_is_found(houses: Houses) -> None:
    """Where every hand raises, it is seen in how often hands fold, and in what is wagered and lost."""
    odds = houses.odds("nordic")
    game = houses.game("nordic")
    always = Decisions(odds.payoffs, odds.rules.qualify, 1, np.full_like(game.decisions.table, RAISE))
    found = wrong(seen(odds, replace(game, decisions=always), FEW))
    assert {("main", "fold"), ("main", "wager in antes"), ("main", "result per ante")} <= set(found)


@pytest.mark.parametrize(
    ("house", "options"),
    [("nordic", {FOLD, RAISE}), ("casino-poker-1982", {FOLD, RAISE}), ("czech", {FOLD, RAISE, EXCHANGE})],
    ids=["one up-card", "two up-cards", "exchange"],
)
def test_hands_are_decided_as_each_is_judged(houses: Houses, house: str, options: set[int]) -> None:
    """What many hands at once decide, the card they exchange included, is worth most by the odds of each."""
    odds = houses.odds(house)
    decisions, lookup = houses.game(house).decisions, Lookup()
    deals = deal(odds.rules, SEED, 0, HANDS)
    chosen = decisions.first(deals.hands, deals.ups).tolist()
    for row, choice in enumerate(chosen):
        cards, ups = ([DECK[card] for card in some[row]] for some in (deals.hands, deals.ups))
        judgement = lookup.judge(odds.payoffs, cards, ups)
        option = {FOLD: "fold", RAISE: "raise"}.get(choice) or cards[choice - EXCHANGE]
        assert judgement.cost(option) == 0
    assert {min(choice, EXCHANGE) for choice in chosen} == options


def test_hands_are_decided_after_an_exchange_as_each_is_judged(houses: Houses) -> None:
    """With the card given up known to be gone, what final hands decide is worth most by the odds of each."""
    odds = houses.odds("czech")
    decisions, lookup = houses.game("czech").decisions, Lookup()
    deals = deal(odds.rules, SEED, 1, HANDS)
    raises = decisions.after_exchange(deals.hands, deals.ups, deals.drawn).tolist()
    for row, raised in enumerate(raises):
        cards, ups = ([DECK[card] for card in some[row]] for some in (deals.hands, deals.ups))
        judgement = lookup.judge_drawn(odds.payoffs, cards, ups, DECK[deals.drawn[row]])
        assert judgement.cost("raise" if raised else "fold") == 0
    assert 0 < sum(raises) < HANDS


def test_processes_play_the_same_rounds(houses: Houses) -> None:
    """Two processes come to what one does, whichever of them plays what."""
    game = houses.game("nordic")
    told: list[tuple[int, int]] = []
    rounds = PORTION_ROUNDS + 500
    both = played(game, rounds, 2, lambda done, whole: told.append((done, whole)))
    assert both == played(game, rounds, 1, lambda *_: None)
    assert told == [(PORTION_ROUNDS, rounds), (rounds, rounds)]


def test_a_meter_that_would_have_to_be_rounded_is_refused(houses: Houses) -> None:
    """A tenth of the meter has to be a whole amount, or its mean would not be what the odds say."""
    odds = houses.odds("nordic")
    check_meter(odds, 990)
    with pytest.raises(OddsError, match="10 % of a meter of 995 minor units"):
        check_meter(odds, 995)


def command(folder: Path, capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    """Run the command with its tables in that folder; return its status and what it printed."""
    status = main([*arguments, "--cache", str(folder)])
    return status, capsys.readouterr().out


def test_the_command_prints_every_comparison(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A person is shown what was expected and seen, the difference, and how many comparisons agree."""
    status, printed = command(folder, capsys, "nordic", "--monte-carlo", "3000", "--processes", "1")
    assert status == 0
    lines = printed.splitlines()
    assert lines[0] == "Nordic Caribbean Stud Poker (nordic): 3,000 rounds of one hand, seed 1"
    assert lines[1] == "Ante NOK 10.00, all jackpots paid from a meter of NOK 100,000.00"
    assert lines[-1] == "24 of 24 comparisons agree."
    assert sum(line.endswith("agrees") or "agrees (compared without" in line for line in lines) == 24


def test_the_command_prints_json(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A program is given the same, with what makes the simulation repeatable."""
    asked = ("evolution-live", "--monte-carlo", "3000", "--seed", "8", "--processes", "1", "--json")
    status, printed = command(folder, capsys, *asked)
    document = orjson.loads(printed)
    assert status == 0
    assert (document["rounds"], document["seed"], document["meter"]) == (3000, 8, None)
    assert document["side_bets"] == {"five_plus_one": document["ante"]}
    assert document["agrees"] is all(found["agrees"] for found in document["comparisons"])
    assert command(folder, capsys, *asked) == (status, printed)


def test_the_command_tells_what_does_not_agree(
    folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where settlement pays something else, the line says so, and the status is 1."""
    monkeypatch.setattr("api.cli.monte_carlo.playing.settle", lambda rules, *rest: settle(
        replace(rules, raise_pays={**rules.raise_pays, "two_pair": 3}), *rest
    ))  # fmt: skip
    status, printed = command(folder, capsys, "nordic", "--monte-carlo", "3000", "--processes", "1")
    assert status == 1
    (line,) = (line for line in printed.splitlines() if line.endswith("DISAGREES"))
    assert line.split()[:4] == AMOUNTS.split()
    assert printed.splitlines()[-1] == "23 of 24 comparisons agree."


@pytest.mark.parametrize(
    "arguments",
    [
        ("--seed", "3"),
        ("--processes", "2"),
        ("--monte-carlo", "0"),
        ("--monte-carlo", "10", "--processes", "0"),
        ("--monte-carlo", "10", "--seed", "-1"),
        ("--monte-carlo", "10", "--contribution", "0.70"),
    ],
    ids=" ".join,
)
def test_what_makes_no_simulation_is_not_understood(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]
) -> None:
    """Numbers that are none to play with, and options without the simulation that they are of, end with 2."""
    with pytest.raises(SystemExit) as ended:
        main(["nordic", *arguments])
    assert ended.value.code == 2
    assert capsys.readouterr().out == ""
