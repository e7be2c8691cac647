"""Open rounds keep their secrets (G5): in answers, errors, rows, dumps, logs and files.

Everything is gathered while rounds are open. Then they are played out, what was hidden is known from their
evidence, and it is looked for in what was gathered. That looking finds what is there is tried on the same
places after the reveal.
"""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import Any

import orjson
import psycopg
import pytest

from api.page.card_words import card_name
from domain.cards import DECK
from infrastructure.evidence.tiles import entries_path, tile_path, tiles_between
from tests.end_to_end.secrets_found import Revealed, cards_in, dump, files_below, forms, seeds_in
from tests.end_to_end.service import Service, code, done, rows

HOUSES = {
    "us-casino": "demo",
    "cyber": "demo",
    "adelaide": "demo-aud",
    "czech": "demo-czk",
    "evolution-live": "demo",
}
OTHERS = ("reports", "audit", "disputes", "admin", "cashier")
PLAY = "play"
SEAL_SECONDS_MAX = 30.0


@dataclass
class Gathered:
    """What was to be had while rounds were open, and what was hidden in them, as known afterwards."""

    rounds: list[Revealed] = field(default_factory=list)
    to_game_server: dict[str, list[bytes]] = field(default_factory=dict)
    to_others: dict[str, list[bytes]] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    errors: list[bytes] = field(default_factory=list)
    events: dict[str, list[bytes]] = field(default_factory=dict)
    dumped: dict[str, bytes] = field(default_factory=dict)
    logs: dict[str, bytes] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    open_log: dict[str, bytes] = field(default_factory=dict)


@pytest.fixture(scope="module")
def gathered(services: tuple[Service, Service]) -> Gathered:
    """Return what could be had of open rounds of several houses, played at two processes."""
    first, second = services
    found = Gathered()
    opened: list[str] = []
    for writing, (house, player) in zip(itertools.cycle(services), HOUSES.items(), strict=False):
        begun = writing.post("/v1/rounds", {"table_id": f"demo-{house}"}, scope=PLAY)
        round_id = done(begun)["round_id"]
        seats = [{"seat": 2, "player_id": player, "ante": 1_000, "client_seed": "lucky-7"}]
        body = {"seats": seats, "deal": True}
        dealt = writing.post(f"/v1/rounds/{round_id}/antes", body, scope=PLAY)
        assert done(dealt)["phase"] == "dealt"
        found.to_game_server[round_id] = [begun.content, dealt.content]
        opened.append(round_id)
    for round_id in opened:
        gather_answers(found, first, second, round_id)
    found.open_log = open_log(services, opened)
    found.dumped = dump(first.admin_dsn)
    provoke_the_database(first, opened[0])
    found.logs = logs(first, second)
    with psycopg.connect(first.admin_dsn, autocommit=True) as connection:
        connection.execute("CHECKPOINT")
    found.files = dict(files_below(first.data / "postgres" / "cluster"))
    for round_id in opened:
        raising = {"seat": 2, "action": "raise"}
        done(second.post(f"/v1/rounds/{round_id}/decisions", raising, scope=PLAY))
        found.rounds.append(Revealed.of(done(first.get(f"/v1/rounds/{round_id}/evidence", "audit"))))
    return found


def gather_answers(found: Gathered, first: Service, second: Service, round_id: str) -> None:
    """Ask everything that can be asked about an open round, with every kind of token, rightly and wrongly."""
    path = f"/v1/rounds/{round_id}"
    reads = [path, f"{path}/events", f"{path}/replay", f"{path}/evidence", "/v1/tables", "/v1/players/demo"]
    others: list[bytes] = []
    for service, scope, asked in itertools.product((first, second), OTHERS, reads):
        others.append(service.get(asked, scope).content)
    found.to_others[round_id] = others
    own = found.to_game_server[round_id]
    own += [service.get(asked, PLAY).content for service in (first, second) for asked in reads]
    found.pages[round_id] = first.http.get(f"{first.url}/?round={round_id}").text
    wrong: list[tuple[str, Any]] = [
        ("deal", {}),
        ("deal", {"seats": {"2": ["As", "Ks", "Qs", "Js", "Ts"]}, "dealer_up": ["2c"]}),
        ("reveal", {"dealer": ["As", "Ks", "Qs", "Js"]}),
        ("antes", {"seats": [{"seat": 2, "player_id": "demo", "ante": 1_000}]}),
        ("decisions", {"seat": 3, "action": "raise"}),
        ("decisions", {"seat": 2, "action": "exchange", "discard": "As", "drawn": "2c"}),
        ("void", {"cause": "no_such_cause", "note": "?"}),
        ("decisions", {"seat": 2, "action": "peek"}),
    ]
    for step, body in wrong:
        for scope in (PLAY, "admin", "audit"):
            answer = second.post(f"{path}/{step}", body, scope=scope)
            assert code(answer), answer.text
            found.errors.append(answer.content)
    query = f"SELECT data FROM events WHERE stream = 'round-{round_id}' ORDER BY version"
    found.events[round_id] = [data for (data,) in rows(first.admin_dsn, query)]


def open_log(services: tuple[Service, Service], opened: list[str]) -> dict[str, bytes]:
    """Ask both processes, without a token, for all of the log that is open, once the rounds are in it."""
    first, second = services
    streams = ", ".join(f"'round-{round_id}'" for round_id in opened)
    ((last,),) = rows(first.admin_dsn, f"SELECT max(position) FROM events WHERE stream IN ({streams})")
    deadline = time.monotonic() + SEAL_SECONDS_MAX
    while first.http.get(f"{first.url}/log/proof/{last}").status_code != 200:
        assert time.monotonic() < deadline, "the log does not sign"
        time.sleep(0.05)
    size = int(first.http.get(f"{first.url}/log/checkpoint").text.split("\n")[1])
    found: dict[str, bytes] = {}
    for path in (
        "checkpoint",
        "key",
        f"consistency/1/{size}",
        *(tile_path(*place) for place in tiles_between(0, size)),
        *(f"proof/{position}" for position in range(max(1, last - 100), last + 1)),
    ):
        for number, service in enumerate(services):
            answer = service.http.get(f"{service.url}/log/{path}")
            assert answer.status_code == 200, (path, answer.text)
            found[f"{number}:{path}"] = answer.content
    bundle = entries_path((last - 1) // 256, (last - 1) % 256 + 1)
    refused = second.get(f"/log/{bundle}", "audit")
    assert (refused.status_code, code(refused)) == (404, "entries_not_ready")
    found["refused"] = refused.content
    return found


def provoke_the_database(service: Service, round_id: str) -> None:
    """Have PostgreSQL refuse a row of an open round: it tells whoever sent it, and must tell no log."""
    copying = """INSERT INTO ledger.events (position, version, stream, data)
        SELECT position + 1000000, -1, stream, data
        FROM ledger.events WHERE stream = %s AND version = 4"""
    with (
        psycopg.connect(service.admin_dsn) as connection,
        pytest.raises(psycopg.errors.CheckViolation) as caught,
    ):
        connection.execute(copying, [f"round-{round_id}"])
    assert "Failing row" in str(caught.value.diag.message_detail)


def logs(first: Service, second: Service) -> dict[str, bytes]:
    """Return what the services and PostgreSQL have logged."""
    postgres = first.data / "postgres" / "postgres.log"
    return {path.name: path.read_bytes() for path in (first.log, second.log, postgres)}


# ── What was found ──────────────────────────────────────────────────────────────────────────────────────────
def test_the_game_server_is_told_no_hidden_card_of_the_dealer(gathered: Gathered) -> None:
    """Nor an undealt one: only the players' cards, which it shows to them, and the dealer's up-card."""
    for each in gathered.rounds:
        answers = b"\n".join(gathered.to_game_server[each.round_id])
        assert cards_in(answers, DECK) == each.up.union(*each.hands.values())


def test_nobody_else_is_told_a_face_down_card(gathered: Gathered) -> None:
    """Back office, regulator, dispute agent, cashier and administrator see up-cards until the round ends."""
    for each in gathered.rounds:
        answers = b"\n".join(gathered.to_others[each.round_id])
        assert cards_in(answers, each.up) == each.up
        dealt = frozenset().union(*each.hands.values())
        assert cards_in(answers, frozenset(DECK) - each.up) == (dealt if each.face_up else frozenset())


def test_the_page_shows_no_hidden_card(gathered: Gathered) -> None:
    """The player's own hand and the dealer's up-card lie there, and no other card is named."""
    for each in gathered.rounds:
        named = {card for card in DECK if card_name(card) in gathered.pages[each.round_id]}
        assert named == each.up.union(*each.hands.values())


def test_the_open_log_has_neither_card_nor_seed(gathered: Gathered) -> None:
    """Checkpoints, keys and proofs name no card, and tiles are hashes; no seed is in any of them.

    That no hash says anything to who guesses is tried apart, with one service.
    """
    assert len(gathered.open_log) > 100
    for path, content in gathered.open_log.items():
        if ":tile/" in path:
            assert 0 < len(content) <= 256 * 32
            assert len(content) % 32 == 0
        else:
            assert not cards_in(content, DECK), path
        assert not seeds_in(content, gathered.rounds), path


def test_no_error_says_a_card(gathered: Gathered) -> None:
    """What a client does wrong is told without a card, not even one that the client named."""
    assert len(gathered.errors) > 100
    assert not cards_in(b"\n".join(gathered.errors), DECK)


def test_an_open_rounds_events_have_no_hidden_card(gathered: Gathered) -> None:
    """A player's face-down card stands in that seat's own event and in no other; the dealer's in none."""
    for each in gathered.rounds:
        for stored in gathered.events[each.round_id]:
            event = orjson.loads(stored)
            own: frozenset[str] = frozenset()
            if event["type"] == "Dealt" and event["data"]["to"] != "dealer":
                own = each.hands[str(event["data"].get("seat", "shared"))]
            assert cards_in(stored, frozenset(DECK) - each.up) == own


def test_stored_answers_have_no_hidden_card(gathered: Gathered) -> None:
    """What is remembered for repeats is what the game server was told, and no more."""
    for each in gathered.rounds:
        marks = [line for line in gathered.dumped["answers"].split(b"\n") if each.round_id.encode() in line]
        assert len(marks) >= 2
        assert not cards_in(b"\n".join(marks), each.nobodys)


def test_a_dump_has_no_seed(gathered: Gathered) -> None:
    """No table holds an open round's seed in any form, but sealed; every round has its sealed row there."""
    for name, content in gathered.dumped.items():
        assert not seeds_in(content, gathered.rounds), name
    for each in gathered.rounds:
        assert each.round_id.encode() in gathered.dumped["open_rounds.text"]


def test_no_answer_and_no_log_has_a_seed(gathered: Gathered) -> None:
    """Neither do answers, errors, the services' logs and PostgreSQL's."""
    for answers in (*gathered.to_game_server.values(), *gathered.to_others.values(), gathered.errors):
        assert not seeds_in(b"\n".join(answers), gathered.rounds)
    for name, content in gathered.logs.items():
        assert content or name == "postgres.log"
        assert not seeds_in(content, gathered.rounds), name


def test_no_log_has_a_card(gathered: Gathered) -> None:
    """Not even one of a row that the database refused."""
    stored = [data for events in gathered.events.values() for data in events]
    for name, content in gathered.logs.items():
        assert not cards_in(content, DECK), name
        for data in stored:
            assert data[:20] not in content, name
            assert data[:20].hex().encode() not in content, name


def test_no_file_of_the_database_has_a_seed(gathered: Gathered) -> None:
    """Tables, indexes and the write-ahead log on disk hold no seed of an open round."""
    assert any(name.startswith("pg_wal/") for name in gathered.files)
    streams = [f"round-{each.round_id}".encode() for each in gathered.rounds]
    assert any(stream in content for content in gathered.files.values() for stream in streams)
    for name, content in gathered.files.items():
        assert not seeds_in(content, gathered.rounds), name


# ── That looking finds ──────────────────────────────────────────────────────────────────────────────────────
def test_the_same_places_show_it_after_the_reveal(
    gathered: Gathered, services: tuple[Service, Service]
) -> None:
    """Once the rounds are over, a dump has their seeds and events have the dealer's cards: looking works."""
    after = dump(services[0].admin_dsn)
    ids = {each.round_id for each in gathered.rounds}
    assert seeds_in(after["events.binary"], gathered.rounds) == ids
    assert seeds_in(after["answers"], gathered.rounds) == ids
    for each in gathered.rounds:
        assert cards_in(after["events.binary"], each.dealer) == each.dealer
        told = services[1].get(f"/v1/rounds/{each.round_id}", "reports").content
        assert cards_in(told, each.dealer) == each.dealer
        assert seeds_in(told, gathered.rounds) == {each.round_id}


def test_a_planted_seed_is_found_in_every_form(gathered: Gathered) -> None:
    """Raw, hexadecimal or base 64, whole or in part, anywhere in a dump."""
    each = gathered.rounds[0]
    dumped = gathered.dumped["events.binary"]
    for form in forms(each.seed):
        planted = dumped[:1000] + form + dumped[1000:]
        assert seeds_in(planted, gathered.rounds) == {each.round_id}
    for text in (b'["Kd"]', b"Kd", b"the Kd was", b"Kd,2c", b"\x00Kd\n"):
        assert cards_in(text, ["Kd"]) == {"Kd"}
    assert not cards_in(b'"salt":"aKd3-Kd_Kd/Kd+"', ["Kd"])
