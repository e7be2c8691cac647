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
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple, TypeVar

from infrastructure.evidence import files, merkle
from infrastructure.evidence.merkle import HASH_BYTES, TILE_HEIGHT, TILE_WIDTH
from infrastructure.evidence.notes import Checkpoint, NoteError, Verifier, parse_checkpoint, parse_note
from infrastructure.evidence.tiles import LEVEL_MAX, entries_path, tile_path, width_at

HEAD: Final = "head"
BEGUN: Final = "begun"
KEYS: Final = "keys"
CHECKPOINT: Final = "checkpoint"
COSIGNED: Final = "cosigned"
LOOK_SECONDS: Final = 0.05
TILES_MAX: Final = 512
"""Tiles that are kept in memory, with the nodes between: 16 KiB each."""

_GENERATION: Final = re.compile(r"[1-9][0-9]{0,8}")
_ATTEMPTS: Final = 5
_Found = TypeVar("_Found")


class LogUnavailable(RuntimeError):
    """What was asked for is not in the log's folder, or not readable there. The message is one line."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a log's sealer signed last, and the note it signed it with (without cosignatures)."""

    generation: int
    checkpoint: Checkpoint
    note: bytes


def read_head(folder: Path) -> Head | None:
    """What was signed last in a log's folder; None where nothing was. Raises LogUnavailable."""
    data = _read(folder / HEAD)
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


class _Tile(NamedTuple):
    """At least `width` of a tile's hashes, with the nodes above them, as its file was at a monotonic time."""

    looked_at: float
    path: Path
    stamp: tuple[int, ...]
    width: int
    nodes: Sequence[bytes]


class Generation:
    """One log of a folder. Safe to use from several threads."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self._lock = threading.Lock()
        self._tiles: OrderedDict[tuple[int, int], _Tile] = OrderedDict()
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
        return (_read(self.place / KEYS) or b"").decode(errors="replace").split()

    def hashes(self, size: int) -> merkle.Read:
        """What reads the hashes of complete subtrees in the tree of a size, for proofs.

        It raises LogUnavailable where the folder does not have a hash.
        """

        def read(level: int, index: int) -> bytes:
            tile_level, height = divmod(level, TILE_HEIGHT)
            number, at = divmod(index << height, TILE_WIDTH)
            nodes = self._nodes(tile_level, number, width_at(tile_level, number, size))
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
        return self._tile(level, index, width)[2]

    def entries(self, index: int) -> bytes | None:
        """A whole bundle of 256 entries; None while one of its rounds is open. Raises LogUnavailable."""
        return _read(self.place / entries_path(index))

    def _tile(self, level: int, index: int, width: int) -> tuple[Path, tuple[int, ...], bytes]:
        """The same, with the file that it was found in and that file's stamp."""
        if not (0 <= level <= LEVEL_MAX and 0 < width <= TILE_WIDTH):
            raise LogUnavailable("there is no such tile")
        # While a sealer fills a tile, a partial one can go between two looks: then the whole one is there.
        for _ in range(_ATTEMPTS):
            for path in self._files(level, index, width):
                stamp = _stamp(path)  # before it is read, as with notes
                data = _read(path)
                if data and len(data) >= width * HASH_BYTES:
                    return path, stamp, data[: width * HASH_BYTES]
                if data:
                    break
        raise LogUnavailable(f"the tile {tile_path(level, index, width)} is missing or damaged")

    def _files(self, level: int, index: int, width: int) -> Iterator[Path]:
        """Where a tile may stand: whole, or as a partial one; in one that has more, if need be."""
        whole = self.place / tile_path(level, index)
        yield whole
        if width == TILE_WIDTH:
            return
        partial = self.place / tile_path(level, index, width)
        yield partial
        with suppress(FileNotFoundError):
            widths = [int(each.name) for each in partial.parent.iterdir() if each.name.isdigit()]
            if longer := [each for each in widths if each > width]:
                yield partial.with_name(str(min(longer)))

    def _nodes(self, level: int, index: int, width: int) -> Sequence[bytes]:
        """The nodes of a tile of at least this width: for each height, all hashes as one string."""
        with self._lock:
            found = self._tiles.get((level, index))
        if found is None or found.width < width or (found := self._still(found)) is None:
            found = self._read_tile(level, index, width)
        with self._lock:
            self._tiles[level, index] = found
            self._tiles.move_to_end((level, index))
            while len(self._tiles) > TILES_MAX:
                self._tiles.popitem(last=False)
        return found.nodes

    @staticmethod
    def _still(tile: _Tile) -> _Tile | None:
        """A known tile, if its file is the one that was read: one that was damaged is written again."""
        now = time.monotonic()
        if now - tile.looked_at < LOOK_SECONDS:
            return tile
        return tile._replace(looked_at=now) if _stamp(tile.path) == tile.stamp else None

    def _read_tile(self, level: int, index: int, width: int) -> _Tile:
        now = time.monotonic()
        path, stamp, hashes = (
            self._tile(level, index, width) if width else (self.place, _stamp(self.place), b"")
        )
        nodes = [hashes]
        while len(nodes) < TILE_HEIGHT:
            nodes.append(merkle.level_above(nodes[-1]))
        return _Tile(now, path, stamp, width, nodes)

    def _note(self, name: str) -> _Seen:
        """A note's file, as of at most `LOOK_SECONDS` ago."""
        seen = self._notes.get(name)
        now = time.monotonic()
        if seen is not None and now - seen.looked_at < LOOK_SECONDS:
            return seen
        path = self.place / name
        stamp = _stamp(path)  # before it is read: one that is newer than its stamp is read again
        if seen is None or stamp != seen.stamp:
            data = _read(path)
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


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        raise LogUnavailable(f"{path} cannot be read: {error.strerror}") from error


def _stamp(path: Path) -> tuple[int, ...]:
    try:
        found = path.stat()
    except OSError:
        return ()
    return found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size


def _checkpoint(path: Path, data: bytes) -> Checkpoint:
    try:
        return parse_checkpoint(parse_note(data).text)
    except NoteError:
        raise LogUnavailable(f"{path} is damaged: no checkpoint") from None
