"""The read side of an evidence log: its folder, as its sealer in another process leaves it at any moment.

    head                    what was signed last, on disk before anybody could see it (`Head`)
    <generation>/begun      this generation was to begin here: written before the ledger says it has begun
    <generation>/keys       its verifier keys, one a line, the newest first
    <generation>/checkpoint the newest published checkpoint, a signed note
    <generation>/cosigned   the newest that all of the witnesses have cosigned
    <generation>/tile/…     hash tiles and entry bundles (`infrastructure.evidence.tiles`)

A generation is a log of its own: a ledger begins another where its log was lost or says something else than
the database, and leaves the folder of the one before as it is.

What is read of a tile never goes beyond the tree that is asked about: what a sealer wrote for a tree it has
not signed yet may still change.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from infrastructure.evidence import files, merkle
from infrastructure.evidence.cached_tiles import CachedTiles
from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.notes import Checkpoint, NoteError, Verifier, parse_checkpoint, parse_note
from infrastructure.evidence.tiles import entries_path, width_at
from infrastructure.evidence.unavailable import LOOK_SECONDS, LogUnavailable, read_file, stamp_of

HEAD: Final = "head"
BEGUN: Final = "begun"
KEYS: Final = "keys"
CHECKPOINT: Final = "checkpoint"
COSIGNED: Final = "cosigned"

_GENERATION: Final = re.compile(r"[1-9][0-9]{0,8}")
_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Head:
    """What a log's sealer signed last, and the note it signed it with (without cosignatures)."""

    generation: int
    checkpoint: Checkpoint
    note: bytes


def read_head(folder: Path) -> Head | None:
    """What was signed last in a log's folder; None where nothing was. Raises LogUnavailable."""
    data = read_file(folder / HEAD)
    if data is None:
        return None
    try:
        document = json.loads(data)
        note = document["note"].encode()
        checkpoint = parse_checkpoint(parse_note(note).text)
        if (document["size"], document["root"]) != (checkpoint.size, checkpoint.root_text):
            raise ValueError  # noqa: TRY301 - told below, like everything else that is wrong with it
        return Head(int(document["generation"]), checkpoint, note)
    except (ValueError, KeyError, TypeError, AttributeError):
        raise LogUnavailable(f"{folder / HEAD} is damaged: put it back from a copy") from None


def head_text(head: Head) -> bytes:
    """What the head's file says."""
    document = {
        "generation": head.generation,
        "origin": head.checkpoint.origin,
        "size": head.checkpoint.size,
        "root": head.checkpoint.root_text,
        "note": head.note.decode(),
    }
    return json.dumps(document, ensure_ascii=False, indent=1).encode()


def begin(folder: Path, generation: int) -> None:
    """Mark that a generation begins in this folder: to be called before the ledger says that it has begun.

    Where the ledger says so and the mark is missing, the log's folder was lost. Harmless when repeated.
    Raises OSError.
    """
    files.make_folder(folder, Path(folder.anchor))
    place = folder / str(generation)
    files.make_folder(place, folder)
    if not (place / BEGUN).exists():
        files.write(place / BEGUN, b"")


def has_begun(folder: Path, generation: int) -> bool:
    """Say whether a generation was marked as beginning here."""
    return (folder / str(generation) / BEGUN).exists()


class _Seen(NamedTuple):
    """A note's file as it was at a monotonic time."""

    looked_at: float
    stamp: tuple[int, ...]
    data: bytes | None
    checkpoint: Checkpoint | None


class Generation:
    """One log of a folder. Safe to use from several threads."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._tiles = CachedTiles(place)
        self._notes: dict[str, _Seen] = {}

    @property
    def number(self) -> int:
        """Which of the ledger's logs it is; they count from 1."""
        return int(self.place.name)

    def newest(self) -> Checkpoint | None:
        """The newest published checkpoint; None before the first. Raises LogUnavailable."""
        return self._note(CHECKPOINT).checkpoint

    def note(self) -> bytes | None:
        """The newest published checkpoint as a signed note. Raises LogUnavailable."""
        return self._note(CHECKPOINT).data

    def cosigned(self) -> bytes | None:
        """The newest checkpoint that every witness has cosigned, if there is one. Raises LogUnavailable."""
        return self._note(COSIGNED).data

    def cosigned_by(self, witnesses: Iterable[Verifier]) -> dict[str, int]:
        """The size of the newest published tree that each witness has signed, by its name; 0: none.

        Raises LogUnavailable.
        """
        found = {witness.name: 0 for witness in witnesses}
        for seen in map(self._note, (CHECKPOINT, COSIGNED)):
            if seen.data is not None and seen.checkpoint is not None:
                for name in {signature.name for signature in parse_note(seen.data).signatures} & found.keys():
                    found[name] = max(found[name], seen.checkpoint.size)
        return found

    def keys(self) -> list[str]:
        """The log's verifier keys, the newest first. Raises LogUnavailable."""
        return (read_file(self.place / KEYS) or b"").decode(errors="replace").split()

    def hashes(self, size: int) -> merkle.Read:
        """What reads the hashes of complete subtrees in the tree of a size, for proofs.

        It raises LogUnavailable where the folder does not have a hash.
        """

        def read(level: int, index: int) -> bytes:
            tile_level, height = divmod(level, TILE_HEIGHT)
            number, at = divmod(index << height, TILE_WIDTH)
            nodes = self._tiles.nodes(tile_level, number, width_at(tile_level, number, size))
            at = (at >> height) * HASH_BYTES
            found = nodes[height][at : at + HASH_BYTES]
            if len(found) != HASH_BYTES:
                raise LogUnavailable(f"a tree of {size} leaves has no subtree {index} of level {level}")
            return found

        return read

    def leaf_hash(self, index: int) -> bytes:
        """The hash of a leaf. Raises LogUnavailable."""
        return self.hashes(index + 1)(0, index)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The proof that a leaf is in the tree of a size. Raises LogUnavailable, ValueError."""
        return merkle.inclusion_proof(index, size, self.hashes(size))

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that a tree begins with an older one. Raises LogUnavailable, ValueError."""
        return merkle.consistency_proof(old, new, self.hashes(new))

    def root(self, size: int) -> bytes:
        """The root of the tree of the first so many leaves. Raises LogUnavailable."""
        return merkle.root_at(size, self.hashes(size))

    def tile(self, level: int, index: int, width: int = TILE_WIDTH) -> bytes:
        """The first `width` hashes of a tile, 32 bytes each, as the files have them.

        Whether a signed tree has that many is for the caller to know. Raises LogUnavailable.
        """
        return self._tiles.read(level, index, width)

    def entries(self, index: int) -> bytes | None:
        """A whole bundle of 256 entries; None while one of its rounds is open. Raises LogUnavailable."""
        return read_file(self.place / entries_path(index))

    def _note(self, name: str) -> _Seen:
        """A note's file, as of at most `LOOK_SECONDS` ago."""
        seen = self._notes.get(name)
        now = time.monotonic()
        if seen is not None and now - seen.looked_at < LOOK_SECONDS:
            return seen
        path = self.place / name
        stamp = stamp_of(path)  # before it is read: one that is newer than its stamp is read again
        if seen is None or stamp != seen.stamp:
            data = read_file(path)
            seen = _Seen(now, stamp, data, None if data is None else _checkpoint(path, data))
        seen = seen._replace(looked_at=now)
        self._notes[name] = seen
        return seen


class LogFolder:
    """A ledger's log: the generations in a folder, and what of the newest published one is asked for.

    It can be made before there is a log. Safe to use from several threads.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._generations: dict[int, Generation] = {}
        self._known: tuple[float, list[int]] = (-LOOK_SECONDS, [])

    def generations(self) -> list[int]:
        """The generations that have published a checkpoint, the oldest first."""
        looked_at, numbers = self._known
        if (now := time.monotonic()) - looked_at >= LOOK_SECONDS:
            try:
                names = [each.name for each in self.path.iterdir() if _GENERATION.fullmatch(each.name)]
            except OSError:
                names = []
            numbers = sorted(int(name) for name in names if (self.path / name / CHECKPOINT).exists())
            self._known = (now, numbers)
        return list(numbers)

    def generation(self, number: int) -> Generation:
        """One log of this folder, whether it is there or not."""
        return self._generations.setdefault(number, Generation(self.path / str(number)))

    @property
    def current(self) -> Generation | None:
        """The newest log that has published a checkpoint."""
        numbers = self.generations()
        return self.generation(numbers[-1]) if numbers else None

    def newest(self) -> Checkpoint | None:
        """The newest published checkpoint; None before the first. Raises LogUnavailable."""
        return self._of_current(Generation.newest, None)

    def note(self) -> bytes | None:
        """The newest published checkpoint as a signed note. Raises LogUnavailable."""
        return self._of_current(Generation.note, None)

    def cosigned(self) -> bytes | None:
        """The newest checkpoint that every witness has cosigned, if there is one. Raises LogUnavailable."""
        return self._of_current(Generation.cosigned, None)

    def keys(self) -> list[str]:
        """The log's verifier keys, the newest first. Raises LogUnavailable."""
        nothing: list[str] = []
        return self._of_current(Generation.keys, nothing)

    def hashes(self, size: int) -> merkle.Read:
        """What reads the hashes of complete subtrees in the tree of a size. Raises LogUnavailable."""
        return self._there().hashes(size)

    def leaf_hash(self, index: int) -> bytes:
        """The hash of a leaf. Raises LogUnavailable."""
        return self._there().leaf_hash(index)

    def inclusion(self, index: int, size: int) -> list[bytes]:
        """The proof that a leaf is in the tree of a size. Raises LogUnavailable, ValueError."""
        return self._there().inclusion(index, size)

    def consistency(self, old: int, new: int) -> list[bytes]:
        """The proof that a tree begins with an older one. Raises LogUnavailable, ValueError."""
        return self._there().consistency(old, new)

    def _of_current(self, ask: Callable[[Generation], _Found], otherwise: _Found) -> _Found:
        current = self.current
        return otherwise if current is None else ask(current)

    def _there(self) -> Generation:
        current = self.current
        if current is None:
            raise LogUnavailable("the log has published nothing yet")
        return current


def _checkpoint(path: Path, data: bytes) -> Checkpoint:
    try:
        return parse_checkpoint(parse_note(data).text)
    except NoteError:
        raise LogUnavailable(f"{path} is damaged: no checkpoint") from None
