"""Two server processes, many clients, one wallet (G2), and one key from many sides at once (G3)."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from tests.end_to_end.asking import Answer, Client, at_once
from tests.end_to_end.service import Service, check_books, code, done, everything, rows, stake

Services = tuple[Service, Service]
OPERATIONS = 20


def test_one_wallet_is_never_overdrawn(services: Services) -> None:
    """64 clients of two processes withdraw, deposit and play from one wallet: it ends to the unit (G2)."""
    first, _ = services
    first.player("shared", funds=60_000)
    for n in range(8):
        first.table(f"shared-{n}")

    async def spend(client: Client) -> Counter[str]:
        turns = random.Random(client.number)
        seen: Counter[str] = Counter()
        for n in range(OPERATIONS):
            amount = turns.choice((100, 300, 700))
            kind = turns.choice(("withdrawals", "withdrawals", "round", "round", "deposits"))
            if kind == "round":
                await play(client, f"shared-{turns.randrange(8)}", amount, seen)
                continue
            body = {"amount": amount if kind == "withdrawals" else 50, "reference": f"{client.number}-{n}"}
            answer = await client.post(f"/v1/players/shared/{kind}", body)
            seen[answer.code or kind] += 1
            if answer.ok:
                seen["moved"] += -amount if kind == "withdrawals" else 50
        return seen

    seen: Counter[str] = Counter()
    for each in at_once(services, spend):
        seen.update(each)
    assert seen["insufficient_funds"] > 20 < seen["withdrawals"]
    assert seen["rounds"] > 20
    assert services[0].balance("shared") == services[1].balance("shared") == (60_000 + seen["moved"], 0)
    check_books(first.admin_dsn)


async def play(client: Client, table: str, ante: int, seen: Counter[str]) -> None:
    """Play a hand, as far as the money goes; count what happened and what it moved."""
    opened = await client.post(
        "/v1/rounds", {"table_id": table, "seats": [stake("shared", ante=ante)], "deal": True}
    )
    seen[opened.code or "rounds"] += 1
    if not opened.ok:
        return
    decision = f"/v1/rounds/{opened.json()['round_id']}/decisions"
    closed = await client.post(decision, {"seat": 1, "action": "raise"})
    if not closed.ok:
        seen[closed.code] += 1
        closed = await client.post(decision, {"seat": 1, "action": "fold"})
    (seat,) = closed.done()["seats"]
    seen["moved"] += seat["net"]


def test_two_open_rounds_of_a_player_share_no_money(services: Services) -> None:
    """A player with one raise left and two hands open raises both at once at two processes: one is taken."""
    players = 16
    for n in range(2):
        services[n].table(f"twin-{n}")

    async def open_hand(client: Client) -> str:
        body = {
            "table_id": f"twin-{client.number % 2}",
            "seats": [stake(f"twin-{client.number // 2}", ante=1_000)],
            "deal": True,
        }
        return str((await client.post("/v1/rounds", body)).done()["round_id"])

    for n in range(players):
        services[0].player(f"twin-{n}", funds=4_000)
    rounds = at_once(services, open_hand, 2 * players)
    assert {services[0].balance(f"twin-{n}") for n in range(players)} == {(2_000, 2_000)}

    async def raise_hand(client: Client) -> Answer:
        return await client.post(
            f"/v1/rounds/{rounds[client.number]}/decisions", {"seat": 1, "action": "raise"}
        )

    answers = at_once(services, raise_hand, 2 * players)
    for n in range(players):
        both = answers[2 * n : 2 * n + 2]
        assert any(answer.ok for answer in both)  # the second one too where the first has won enough by then
        net = 0
        for round_id, answer in zip(rounds[2 * n :], both, strict=False):
            assert answer.code in ("", "insufficient_funds")
            fold = {"seat": 1, "action": "fold"}
            closed = (
                answer.json()
                if answer.ok
                else done(services[0].post(f"/v1/rounds/{round_id}/decisions", fold))
            )
            net += closed["seats"][0]["net"]
        assert services[1].balance(f"twin-{n}") == (4_000 + net, 0)
    assert not all(answer.ok for answer in answers)
    check_books(services[0].admin_dsn)


# ── One key ─────────────────────────────────────────────────────────────────────────────────────────────────
def fifty(services: Services, path: str, bodies: Sequence[Any], key: str) -> list[Answer]:
    """Send one key fifty times at once over both processes, with the bodies in turn."""

    async def send(client: Client) -> Answer:
        return await client.post(path, bodies[client.number // 2 % len(bodies)], key)

    return at_once(services, send, 50)


@pytest.mark.parametrize("kind", ["deposit", "round", "rejection"])
def test_one_key_fifty_times_acts_once(services: Services, kind: str) -> None:
    """All fifty get the same bytes, forty-nine are marked as repeats, and it happened once (G3)."""
    first, _ = services
    player = f"fifty-{kind}"
    first.player(player, funds=10_000)
    first.table(player)
    path, body = {
        "deposit": (f"/v1/players/{player}/deposits", {"amount": 700, "reference": "once"}),
        "round": ("/v1/rounds", {"table_id": player, "seats": [stake(player)], "deal": True}),
        "rejection": (f"/v1/players/{player}/withdrawals", {"amount": 10_001, "reference": "once"}),
    }[kind]
    answers = fifty(services, path, [body], f"key-{kind}")
    assert len({(answer.status, answer.content) for answer in answers}) == 1
    assert len({answer.headers["ledger-position"] for answer in answers}) == 1
    assert [answer.headers.get("idempotent-replayed") for answer in answers].count("true") == 49
    expected = {"deposit": (10_700, 0), "round": (9_900, 100), "rejection": (10_000, 0)}[kind]
    assert first.balance(player) == expected
    assert answers[0].code == ("insufficient_funds" if kind == "rejection" else "")


def test_one_key_with_two_bodies_at_once_is_one_of_them(services: Services) -> None:
    """Whichever comes first has the key; every other body under it is refused and changes nothing (G3)."""
    first, second = services
    first.player("either", funds=1_000)
    bodies = [{"amount": amount, "reference": "r"} for amount in (3, 4)]
    answers = fifty(services, "/v1/players/either/deposits", bodies, "either")
    taken = {answer.content for answer in answers if answer.ok}
    refused = [answer for answer in answers if not answer.ok]
    assert len(taken) == 1
    assert len(refused) in (24, 26)
    assert {(answer.code, answer.status) for answer in refused} == {("idempotency_key_reused", 422)}
    assert first.balance("either")[0] in (1_003, 1_004)
    before = everything(first.admin_dsn)
    for service in (first, second):
        again = service.post("/v1/players/either/deposits", {"amount": 5, "reference": "s"}, key="either")
        assert code(again) == "idempotency_key_reused"
    assert everything(first.admin_dsn) == before


def test_a_rejection_is_remembered_everywhere(services: Services) -> None:
    """What was refused for want of money stays refused under its key when the money has come (G3)."""
    first, second = services
    first.player("patient", funds=100)
    body = {"amount": 500, "reference": "r"}
    refused = first.post("/v1/players/patient/withdrawals", body, key="patient")
    assert code(refused) == "insufficient_funds"
    done(first.post("/v1/players/patient/deposits", {"amount": 1_000, "reference": "more"}))
    for service in (second, first):
        again = service.post("/v1/players/patient/withdrawals", body, key="patient")
        assert (again.status_code, again.content) == (refused.status_code, refused.content)
        assert again.headers["idempotent-replayed"] == "true"
    assert done(second.post("/v1/players/patient/withdrawals", body))["balance"] == 600
    assert rows(first.admin_dsn, "SELECT count(*) FROM commands WHERE outcome = 1")[0][0] > 0
