"""Makes the golden ledger of the stage that is finished with the software as it stands.

    .venv/bin/python -m tests.golden.make stage-N "what this stage is"

It plays `scenes` on an embedded server of its own and writes ``tests/golden/stage-N``. A stage's ledger is
made once, when the stage is finished, and never again: it stands for the ledgers that were written then. Add
to `scenes` what the new stage can do, before making its ledger.
"""

from __future__ import annotations

import asyncio
import hashlib
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import psycopg
import zstandard

from api.play.evidence import evidence
from infrastructure.bootstrap import prepare
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.writer import Writer
from infrastructure.postgres import EmbeddedPostgres
from infrastructure.reading import Reading
from infrastructure.seals import KEY_BYTES, Seals
from tests.golden import packed, players, scenes
from tests.integration.made_log import make_log

SCHEMA = "ledger"
PASSWORDS = {"app": "golden-app-password-0000", "auditor": "golden-auditor-password-0"}
KEY = bytes(range(KEY_BYTES))


def main(stage: str, title: str) -> None:
    """Play, and write the stage's folder."""
    folder = packed.GOLDEN / stage
    folder.mkdir()
    with tempfile.TemporaryDirectory(prefix="stud-ledger-golden-") as name:
        home = Path(name)
        home.chmod(0o711)  # PostgreSQL's own user has to pass through
        with EmbeddedPostgres(home / "postgres") as server:
            app = prepare(server.dsn, SCHEMA, passwords=PASSWORDS).app
            player = _play(app)
            files = asyncio.run(_evidence(app, home / "log"))
            with psycopg.connect(server.dsn) as connection:
                rows = packed.write_rows(connection, SCHEMA)
                told = _about(connection, title, player)
    packed.keep_migrations(folder)
    (folder / "rows.zst").write_bytes(rows)
    lines = zstandard.ZstdCompressor(level=packed.LEVEL).compress(b"\n".join(files))
    (folder / "evidence.zst").write_bytes(lines)
    (folder / "about.json").write_bytes(orjson.dumps(told, option=orjson.OPT_INDENT_2) + b"\n")


def _play(app: str) -> players.Player:
    with players.determined(scenes.SEED) as dice:
        clock = players.Clock()
        store = PostgresStore(app, SCHEMA)
        writer = Writer(
            store, Seals(KEY), clock, "stud-ledger/golden", settle_seats_max=scenes.SETTLE_SEATS_MAX
        )
        writer.start()
        try:
            player = players.Player(writer, clock, dice)
            scenes.play(player)
        finally:
            writer.stop()
    return player


async def _evidence(app: str, log_folder: Path) -> list[bytes]:
    """Return evidence of the last finished round of every table."""
    reading = Reading(app, SCHEMA)
    await reading.open()
    try:
        with psycopg.connect(app) as connection:
            streams = connection.execute(
                "SELECT substr(stream, 7) FROM ledger.events WHERE stream LIKE 'round-%' AND version = 1"
                " ORDER BY position"
            ).fetchall()
            events = connection.execute("SELECT data FROM ledger.events ORDER BY position").fetchall()
        log = make_log(log_folder, [data for (data,) in events])
        note = log.note()
        assert note is not None
        last: dict[str, str] = {}
        for (round_id,) in streams:
            found = await reading.round(round_id)
            if found is not None and found.round.finished and found.round.seats:
                last[found.round.opened.table_id] = round_id
        files = []
        for round_id in last.values():
            found = await reading.round(round_id)
            assert found is not None
            stored = await reading.events(round_id)
            files.append(evidence(found, stored, None, log, note))
        return files
    finally:
        await reading.close()


def _about(connection: psycopg.Connection, title: str, player: players.Player) -> dict[str, Any]:
    stored = connection.execute("SELECT data FROM ledger.events ORDER BY position").fetchall()
    types: Counter[str] = Counter(orjson.loads(data)["type"] for (data,) in stored)
    return {
        "title": title,
        "deck_key": KEY.hex(),
        "client": players.CLIENT,
        "now_us": player.clock.now_us,
        "position": len(stored),
        "events_sha256": hashlib.sha256(b"".join(data for (data,) in stored)).hexdigest(),
        "events": dict(sorted(types.items())),
        "rejected": dict(sorted(player.rejected.items())),
    }


if __name__ == "__main__":
    main(*sys.argv[1:])
