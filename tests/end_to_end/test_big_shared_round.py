"""One hand that five thousand players bet on, at two server processes: settled, and declared void."""

from __future__ import annotations

import time
from collections import Counter
from itertools import chain, groupby
from typing import Any

import pytest

from domain import events as ev
from domain.envelope import Recorded
from domain.round import Round, evolve
from infrastructure.ledger.stored_form import decode
from tests.end_to_end.asking import Client, at_once
from tests.end_to_end.service import CLIENTS, Service, check_books, code, done, rows, stake

Services = tuple[Service, Service]
SEATS = 5_000
SEATS_A_COMMAND = 500
FUNDS = 10_000
ANTE = 100
SIDE_BET = 300
DECIDING = 3_000
DECISION_SECONDS = 5
PATIENCE_SECONDS = 90


@pytest.fixture(scope="module")
def crowd(services: Services) -> Services:
    """Return the services, with five thousand players who have money, and a table for them."""
    first, _ = services
    deciding = {"decision_seconds": DECISION_SECONDS}
    first.table("big", "evolution-live", parallel_rounds=False, parameters=deciding)

    async def fund(client: Client) -> None:
        for n in range(1 + client.number, 1 + SEATS, CLIENTS):
            (await client.post("/v1/players", {"player_id": f"big-{n}", "currency": "USD"})).done()
            body = {"amount": FUNDS, "reference": "first"}
            (await client.post(f"/v1/players/big-{n}/deposits", body)).done()

    at_once(services, fund)
    return services


def dealt(services: Services) -> str:
    """Open a round, have everybody bet, in turn at each service, and deal; return its id."""
    first, second = services
    round_id = done(first.post("/v1/rounds", {"table_id": "big"}))["round_id"]
    for n in range(0, SEATS, SEATS_A_COMMAND):
        seats = [
            stake(f"big-{seat}", seat, ANTE, side_bets={"five_plus_one": SIDE_BET} if seat % 2 else {})
            for seat in range(n + 1, n + 1 + SEATS_A_COMMAND)
        ]
        service = services[n // SEATS_A_COMMAND % 2]
        placed = done(service.post(f"/v1/rounds/{round_id}/antes", {"seats": seats}))
        assert placed["totals"]["seats"] == n + SEATS_A_COMMAND
    assert code(first.post("/v1/rounds", {"table_id": "big"})) == "round_open"
    done(second.post(f"/v1/rounds/{round_id}/deal"))
    return str(round_id)


def decide(services: Services, round_id: str, seats: int) -> int:
    """Have the first seats decide, every third one to fold; return how many were not too late."""

    async def play(client: Client) -> int:
        taken = 0
        for seat in range(1 + client.number, 1 + seats, CLIENTS):
            body = {"seat": seat, "action": "raise" if seat % 3 else "fold"}
            answer = await client.post(f"/v1/rounds/{round_id}/decisions", body)
            assert answer.code in ("", "wrong_phase", "already_decided")
            taken += answer.ok
        return taken

    return sum(at_once(services, play))


def watch(services: Services, round_id: str, end: str, total: str) -> list[tuple[str, int]]:
    """Read a round at both services until it is over; return its phases and how far it had come."""
    seen: list[tuple[str, int]] = []
    deadline = time.monotonic() + PATIENCE_SECONDS
    while not seen or seen[-1] != (end, SEATS):
        assert time.monotonic() < deadline, seen[-1]
        for service in services:
            position = rows(services[0].admin_dsn, "SELECT position FROM head")[0][0]
            view = done(service.get(f"/v1/rounds/{round_id}?min_position={position}"))
            seen.append((view["phase"], view["totals"][total]))
    return seen


def stored(service: Service, round_id: str) -> list[Recorded]:
    """Return a round's events."""
    query = f"SELECT data FROM events WHERE stream = 'round-{round_id}' ORDER BY version"
    return [decode(data) for (data,) in rows(service.admin_dsn, query)]


def by_command(events: list[Recorded], kind: type[ev.Settled | ev.StakeRefunded]) -> list[list[int]]:
    """Return the seats of one kind of event, command by command."""
    groups = groupby(events, lambda each: str(each.meta["command"]))
    seats = [[each.event.seat for each in group if isinstance(each.event, kind)] for _, group in groups]
    return [group for group in seats if group]


def test_five_thousand_seats_are_settled(crowd: Services) -> None:
    """Seat after seat in several commands, revealed until the last; the money is exact (G1, G2)."""
    first, second = crowd
    round_id = dealt(crowd)
    decided = decide(crowd, round_id, DECIDING)
    seen = watch(crowd, round_id, "closed", "settled")
    assert decided > DECIDING / 3
    for phase, settled in seen:
        assert phase in ("dealt", "revealed", "closed")
        assert (phase == "revealed") == (0 < settled < SEATS)
    events = stored(first, round_id)
    settling = by_command(events, ev.Settled)
    assert list(chain(*settling)) == list(range(1, SEATS + 1))
    assert list(map(len, settling)) == [SEATS_A_COMMAND] * (SEATS // SEATS_A_COMMAND)
    by_clock = [e for e in events if isinstance(e.event, ev.Folded) and e.event.decided_by == "timeout"]
    assert len(by_clock) == SEATS - decided
    phases = phases_between_commands(events)
    assert [phase for phase, _ in groupby(phases)] == ["betting", "dealt", "revealed", "closed"]
    assert phases.count("revealed") == len(settling) - 1
    check_money(first, events)
    assert done(second.get(f"/v1/rounds/{round_id}/replay"))["verdict"] == "pass"
    assert "open_round" not in done(second.get("/v1/tables/big"))


def phases_between_commands(events: list[Recorded]) -> list[str]:
    """Return the phase that a round was left in by each of its commands."""
    state: Round | None = None
    phases: list[str] = []
    for _, group in groupby(events, lambda each: str(each.meta["command"])):
        for each in group:
            state = evolve(state, each.stream, each.event)
        assert state is not None
        phases.append(state.phase)
    return phases


def check_money(service: Service, events: list[Recorded]) -> None:
    """All who did the same with the same stakes got the same; every wallet is what that makes it."""
    balances = check_books(service.admin_dsn)
    raised = {each.event.seat for each in events if isinstance(each.event, ev.Raised)}
    results: dict[tuple[bool, bool], set[int]] = {}
    for event in (each.event for each in events):
        if isinstance(event, ev.Settled):
            net = sum(bet.returned + bet.won - bet.stake for bet in event.bets)
            staked = sum(bet.stake for bet in event.bets)
            key = (event.seat in raised, event.seat % 2 == 1)
            assert staked == ANTE + (2 * ANTE if key[0] else 0) + (SIDE_BET if key[1] else 0)
            results.setdefault(key, set()).add(net)
            assert balances["wallet", event.player] == event.balance_after == FUNDS + net
            assert balances["on_game", event.player] == 0
    assert {len(nets) for nets in results.values()} == {1}
    assert len(results) == 4


def test_five_thousand_seats_are_given_back_their_stakes(crowd: Services) -> None:
    """A void round refunds in several commands, all of every stake, and frees its table."""
    first, second = crowd
    query = "SELECT player, balance, on_game FROM wallets ORDER BY player"
    before = rows(first.admin_dsn, query)
    round_id = dealt(crowd)
    assert decide(crowd, round_id, 100)
    void = {"cause": "malfunction", "note": "The studio lost its light."}
    voided = done(second.post(f"/v1/rounds/{round_id}/void", void))
    assert (voided["phase"], voided["totals"]["refunded"]) == ("voided", SEATS_A_COMMAND)
    seen = watch(crowd, round_id, "voided", "refunded")
    assert {phase for phase, _ in seen} == {"voided"}
    events = stored(first, round_id)
    refunds = by_command(events, ev.StakeRefunded)
    assert list(chain(*refunds)) == list(range(1, SEATS + 1))
    assert list(map(len, refunds)) == [SEATS_A_COMMAND] * (SEATS // SEATS_A_COMMAND)
    assert Counter(type(each.event).__name__ for each in events)["RoundVoided"] == 1
    assert rows(first.admin_dsn, query) == before
    check_books(first.admin_dsn)
    assert done(first.get(f"/v1/rounds/{round_id}/replay"))["verdict"] == "pass"
    reopened: dict[str, Any] = done(second.post("/v1/rounds", {"table_id": "big"}))
    assert reopened["phase"] == "betting"
