"""The plans of a simulation, its requests over HTTP, and what it tells in the end."""

from __future__ import annotations

from collections import Counter
from random import Random
from typing import Any

import pytest

from api.cli.simulate.__main__ import main, parse
from api.cli.simulate.channel import request
from api.cli.simulate.plan import House, decides, plan
from api.cli.simulate.summary import Summary, Trial
from domain import commands as c
from domain.rulesets import SHIPPED
from domain.rulesets.schema import RuleSet
from infrastructure.bootstrap import shipped_documents

HOUSES = [
    House(ruleset, f"sim-{ruleset.id}", ruleset.currencies[0])
    for ruleset in map(RuleSet.from_document, shipped_documents())
]


def comparable(seed: int, number: int, at: House | None = None) -> tuple[Any, ...]:
    """Return a plan's parts but for its dice."""
    p = plan(HOUSES, seed, number, at=at)
    return (
        p.house.table_id,
        p.stakes,
        p.opening,
        p.void_after,
        p.open_next,
        p.bad,
        p.withdraws,
        p.timed,
        p.joins,
    )


def test_a_seed_plans_the_same_rounds_again_and_another_one_others() -> None:
    """Plans depend on the seed and the round's number, not on what was planned before."""
    first = [comparable(1, number) for number in range(50)]
    assert [comparable(1, number) for number in reversed(range(50))] == first[::-1]
    assert [comparable(2, number) for number in range(50)] != first


def test_plans_keep_to_the_houses() -> None:
    """Seats, hands and side bets are those that the house has, and antes are within limits."""
    for number in range(500):
        made = plan(HOUSES, 3, number)
        seating = made.house.ruleset.seating
        seats = [stakes.seat for stakes in made.stakes]
        assert len(set(seats)) == len(seats) >= 1
        assert max(seats) <= seating.seats
        assert max(Counter(stakes.guest for stakes in made.stakes).values()) <= seating.hands_per_player
        for stakes in made.stakes:
            assert 100 <= stakes.ante <= 10_000
            assert stakes.client_seed is None or made.opening != "at_once"
            for kind, amount in stakes.side_bets.items():
                fixed = made.house.side_bets[kind]
                assert amount == fixed or (fixed is None and 100 <= amount <= 10_000)


def test_a_round_that_waits_for_stakes_is_not_opened_again() -> None:
    """A plan for a round that is open already is at its house and never one that opens at once."""
    made = [plan(HOUSES, 4, number, at=HOUSES[0]) for number in range(50)]
    assert {each.house.table_id for each in made} == {HOUSES[0].table_id}
    assert "at_once" not in {each.opening for each in made}


@pytest.mark.parametrize(
    ("hand", "usual"),
    [
        ("2c 2d 4h 6s 8c", "raise"),
        ("Ac Kd 4h 6s 8c", "raise"),
        ("Ac Qd 4h 6s 8c", "fold"),
        ("2c 3d 4h 5s 6c", "raise"),
    ],
)
def test_guests_raise_with_a_pair_or_ace_and_king_and_seldom_against_that(hand: str, usual: str) -> None:
    """Ninety-five times in a hundred a guest does what is sensible."""
    dice = Random(5)
    done: Counter[str] = Counter(decides(hand.split(), ["raise", "fold"], dice)[0] for _ in range(1_000))
    assert 900 < done[usual] < 1_000
    assert set(done) == {"raise", "fold"}


def test_a_card_is_bought_only_where_one_is_sold() -> None:
    """With the option now and then a card of the hand is given away; without it never."""
    dice, hand = Random(6), "2c 2d 4h 6s 8c".split()
    sold = [decides(hand, ["raise", "fold", "exchange"], dice) for _ in range(100)]
    given = [card for action, card in sold if action == "exchange"]
    assert 10 < len(given) < 60
    assert set(given) <= set(hand)
    assert all(card is None for action, card in sold if action != "exchange")


def test_each_command_has_its_request() -> None:
    """Paths and bodies are those of the HTTP contract, and absent values are left out."""
    stake = c.SeatStake(2, "una", 500, {"jackpot": 100}, client_seed="s")
    seat = {"seat": 2, "player_id": "una", "ante": 500, "side_bets": {"jackpot": 100}, "client_seed": "s"}
    assert request(c.OpenPlayer("una", "p1", "USD", "test")) == (
        "/v1/players",
        {"player_id": "una", "currency": "USD", "account_class": "test"},
    )
    assert request(c.Deposit("una", 5, "r", "t")) == (
        "/v1/players/una/deposits",
        {"amount": 5, "reference": "r"},
    )
    assert request(c.PlaceAntes("r1", (stake,), deal=True)) == (
        "/v1/rounds/r1/antes",
        {"seats": [seat], "deal": True},
    )
    assert request(c.Decide("r1", 2, "raise")) == (
        "/v1/rounds/r1/decisions",
        {"seat": 2, "action": "raise", "open_next": False},
    )
    path, body = request(c.OpenTable("t", "czech", "CZK", 1, 2, "rng", raise_win_cap=9, bonus_stake=8))
    assert path == "/v1/tables"
    assert body["parameters"] == {"raise_win_cap": 9, "bonus_stake": 8, "zone": "UTC", "cutoff_hour": 0}
    assert "jackpot_id" not in body
    with pytest.raises(ValueError, match="StartLedger"):
        request(c.StartLedger(demo=True))


def test_a_trial_balance_tells_what_is_off() -> None:
    """One that sums to zero balances; one that does not says by how much, in minor units."""
    even = Trial("USD", "test", wallets=1_000_000, house=-1_705_000, jackpots=705_000)
    assert (even.off, even.line().startswith("USD (test) balances: wallets 100,")) == (0, True)
    odd = Trial("USD", "test", wallets=1_000_000, cashier=-1_010_001)
    assert odd.line().startswith("USD (test) is off by -1.0001: ")


def test_a_summary_leaves_void_rounds_out_of_what_was_wagered() -> None:
    """A void seat is counted, and its stakes were not wagered."""
    summary = Summary()
    bet = {"stake": 10, "returned": 10, "won": 5}
    seat = {"result": "win", "bets": [bet], "total_returned": 15}
    round_ = {"round_id": "r1", "ruleset": {"id": "nordic"}, "currency": "NOK"}
    summary.finished({**round_, "seats": [seat, seat]})
    summary.finished({**round_, "round_id": "r2", "seats": [{**seat, "result": "void"}]})
    assert summary.results == {"win": 2, "void": 1}
    assert (summary.wagered["NOK"], summary.returned["NOK"]) == (20, 30)
    assert "NOK         wagered 20, returned 30 (150.0%), minor units" in list(summary.lines(1.0))


@pytest.mark.parametrize(
    "arguments", [["--rounds", "0"], ["--players", "0"], ["--ruleset", "none"], ["--seed", "x"]]
)
def test_arguments_that_make_no_sense_are_refused(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The command line says what is wrong and ends with 2."""
    with pytest.raises(SystemExit) as ended:
        parse(arguments)
    assert ended.value.code == 2
    assert arguments[0] in capsys.readouterr().err


def test_all_houses_are_played_unless_some_are_named() -> None:
    """Without --ruleset there are nine; each --ruleset adds one; a seed is drawn where none is given."""
    assert parse([]).rulesets == SHIPPED
    assert parse(["--ruleset", "cyber", "--ruleset", "czech"]).rulesets == ("cyber", "czech")
    assert parse(["--seed", "9"]).seed == 9
    assert parse([]).seed != parse([]).seed


def test_help_says_where_the_rounds_are_played(capsys: pytest.CaptureFixture[str]) -> None:
    """`--help` tells that nothing is kept without a data directory."""
    with pytest.raises(SystemExit) as ended:
        main(["--help"])
    assert ended.value.code == 0
    assert "removed afterwards" in capsys.readouterr().out
