"""What can be done to the files of the log and of an archive; the database is not touched."""

from __future__ import annotations

import shutil
from hashlib import sha256
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from infrastructure import log_keys
from infrastructure.archive import manifest as manifests
from infrastructure.archive.layout import EVENTS, MANIFEST, ROUNDS, SIGNATURE
from infrastructure.archive.manifest import File
from infrastructure.evidence.folder import CHECKPOINT, COSIGNED, HEAD, KEYS, Head, LogFolder, head_text
from infrastructure.evidence.merkle import HASH_BYTES, TILE_WIDTH
from infrastructure.evidence.notes import Checkpoint, Signer, parse_checkpoint, parse_note, write_note
from infrastructure.evidence.tiles import entries_path, pack_entries, tile_path, unpack_entries
from tests.integration.tamper.insider import Change, Copy

TILE, LEAF = 3, 77
STRANGER = b"s" * 32
NOTE = ("checkpoint", "log.signature", "what was signed last")
"""How tools speak of what the log has signed."""


# ── The log's ───────────────────────────────────────────────────────────────────────────────────────────────
def change_a_leaf(copy: Copy) -> Change:
    """Flip a bit of a leaf's hash."""
    _flip(copy.log / tile_path(0, TILE), LEAF * HASH_BYTES)
    return Change(TILE * TILE_WIDTH + LEAF + 1)


def change_a_node(copy: Copy) -> Change:
    """Flip a bit of a hash in a tile of the level above."""
    path = copy.log / tile_path(1, 0, _newest(copy).size // TILE_WIDTH)
    _flip(path, TILE * HASH_BYTES)
    return Change(TILE * TILE_WIDTH + 1)


def lose_a_tile(copy: Copy) -> Change:
    """Delete a tile of hashes."""
    (copy.log / tile_path(0, TILE)).unlink()
    return Change(TILE * TILE_WIDTH + 1)


def change_a_bundle(copy: Copy) -> Change:
    """Let a jackpot have got more of a side bet, in a bundle of entries."""
    for number in range(TILE):
        path = copy.log / entries_path(number)
        entries = unpack_entries(path.read_bytes())
        for index, entry in enumerate(entries):
            if b'"bet":"jackpot"' in entry:
                entries[index] = entry.replace(b'"contribution":"', b'"contribution":"9')
                path.write_bytes(pack_entries(entries))
                position = number * TILE_WIDTH + index + 1
                return Change(position, (f"position {position} (",))
    raise AssertionError("nobody played for a jackpot")


def change_the_checkpoint(copy: Copy) -> Change:
    """Let the newest checkpoint, and what was signed last, be of another root."""
    checkpoint = _newest(copy)
    forged = Checkpoint(checkpoint.origin, checkpoint.size, b"r" * HASH_BYTES)
    note = parse_note(LogFolder(copy.folder("log")).note() or b"")
    _publish(copy, write_note(forged.body(), [each.line for each in note.signatures]))
    return Change(where=NOTE)


def sign_the_checkpoint_with_another_key(copy: Copy) -> Change:
    """Sign the newest checkpoint with a key that is not the log's, and say that it is."""
    checkpoint = _newest(copy)
    stranger = Signer.from_seed(checkpoint.origin, STRANGER)
    _publish(copy, write_note(checkpoint.body(), [stranger.sign(checkpoint.body())]))
    (copy.log / KEYS).write_text(f"{stranger.verifier.vkey}\n")
    return Change(where=NOTE)


def publish_an_older_checkpoint(copy: Copy) -> Change:
    """Put an older checkpoint in the newest one's place."""
    for name in (CHECKPOINT, COSIGNED):
        (copy.log / name).write_bytes(copy.story.kept.checkpoint)
    return Change(copy.story.kept.size + 1)


def lose_what_was_signed_last(copy: Copy) -> Change:
    """Delete the file that tells what was signed last."""
    (copy.folder("log") / HEAD).unlink()
    return Change(where=NOTE)


def lose_the_log(copy: Copy) -> Change:
    """Delete the whole log."""
    copy.without("log").mkdir()
    return Change(where=(*NOTE, "log_lost"))


# ── The archive's ───────────────────────────────────────────────────────────────────────────────────────────
def edit_an_archived_event(copy: Copy) -> Change:
    """Edit an event in a day's file."""
    at, day = _edit_events(copy)
    return Change(at, (f"{day.name}/{EVENTS}",))


def edit_and_sign_with_another_key(copy: Copy) -> Change:
    """Edit an event in the last day's file, and sign a manifest that says so with another key."""
    at, day = _edit_events(copy)
    _sign(day, Signer.from_seed(_newest(copy).origin, STRANGER))
    return Change(at, (f"{day.name}/{SIGNATURE}",))


def edit_and_sign_with_the_key(copy: Copy) -> Change:
    """Edit an event in the last day's file, and sign a manifest that says so with the log's own key."""
    at, day = _edit_events(copy)
    _sign(day, log_keys.load_for(copy.place.keys, copy.story.kept.key))
    return Change(at, (f"{day.name}: its events do not have the root",))


def edit_hands_and_sign_with_the_key(copy: Copy) -> Change:
    """Let a hand have won more in the last day's table of hands, and sign that with the log's own key."""
    day = _last_day(copy)
    table = pq.read_table(day / ROUNDS)
    won = table.column("game_win").to_pylist()
    won[0] += 1
    _put(day / ROUNDS, table, "game_win", won)
    _sign(day, log_keys.load_for(copy.place.keys, copy.story.kept.key))
    return Change(where=(f"{day.name}: its manifest was",))


def lose_the_last_day(copy: Copy) -> Change:
    """Take the last day away."""
    day = _last_day(copy)
    shutil.rmtree(day)
    return Change(where=(f"of {day.name}, is missing",))


def lose_the_first_day(copy: Copy) -> Change:
    """Take the first day away."""
    first, last = sorted(copy.folder("archive").iterdir())
    shutil.rmtree(first)
    return Change(where=(f"the days before {last.name} are missing",))


# ── How ─────────────────────────────────────────────────────────────────────────────────────────────────────
def _newest(copy: Copy) -> Checkpoint:
    checkpoint = LogFolder(copy.story.ledger.log).newest()
    assert checkpoint is not None
    return checkpoint


def _publish(copy: Copy, note: bytes) -> None:
    """Let a note be the newest checkpoint, and what was signed last."""
    for name in (CHECKPOINT, COSIGNED):
        (copy.log / name).write_bytes(note)
    checkpoint = parse_checkpoint(parse_note(note).text)
    (copy.folder("log") / HEAD).write_bytes(head_text(Head(1, checkpoint, note)))


def _flip(path: Path, at: int) -> None:
    data = bytearray(path.read_bytes())
    data[at] ^= 1
    path.write_bytes(data)


def _last_day(copy: Copy) -> Path:
    return max(copy.folder("archive").iterdir())


def _edit_events(copy: Copy) -> tuple[int, Path]:
    """Let somebody else have sent an event of the last day, in the file; return its position, and the day."""
    day = _last_day(copy)
    table = pq.read_table(day / EVENTS)
    stored = table.column("data").to_pylist()
    number = next(at for at, each in enumerate(stored) if b'"type":"Raised"' in each)
    found = orjson.loads(stored[number])
    found["meta"]["actor"] = "nobody"
    stored[number] = orjson.dumps(found, option=orjson.OPT_SORT_KEYS)
    _put(day / EVENTS, table, "data", stored)
    return int(table.column("position")[number].as_py()), day


def _put(path: Path, table: Any, name: str, values: list[Any]) -> None:
    column = table.schema.get_field_index(name)
    field = table.schema.field(column)
    pq.write_table(table.set_column(column, field, pa.array(values, field.type)), path)


def _sign(day: Path, signer: Signer) -> None:
    """Write a manifest that names the files as they are, and sign it."""
    manifest = manifests.decode((day / MANIFEST).read_bytes())
    said = {
        name: File((day / name).stat().st_size, sha256((day / name).read_bytes()).hexdigest(), file.rows)
        for name, file in manifest.files.items()
    }
    manifest = manifest._replace(files=said)
    stored = manifests.encode(manifest)
    text = manifests.signed_text(manifest, stored)
    (day / MANIFEST).write_bytes(stored)
    (day / SIGNATURE).write_bytes(write_note(text, [signer.sign(text)]))
