"""A log as its sealer writes it: the files of one generation, in an order that a crash can stop anywhere.

To seal more events is to do this, and each step is on disk before the next one begins:

    1  tiles        the hash tiles that are wider than before: whole ones and, at the edge, partial ones
    2  head         the new tree's signed checkpoint, as what was signed last
    3  checkpoint   the same note, where everybody reads it: from now on the tree is known
    4  tidying      partial tiles that are part of whole ones now are taken away
    5  bundles      entry bundles of tiles whose rounds are all finished (`infrastructure.evidence.bundles`)
    6  cosigned     the note with the signatures of witnesses, when they come

After a crash the head is found, and:

    before 2   what is beyond the head was never signed: the tiles there are taken away, as a ledger that is
               put back to before those events would not write over all of them
    2 to 3     the head is signed and its tiles are there: its note is published before another is signed
    after 3    leftovers of tidying are taken away; a bundle that is missing is written

A tree is signed only if it is larger than the head's, and its edge was read back from tiles that have the
root of the head, or was made of such a one by adding leaves. So no two trees that disagree are ever signed,
unless somebody takes away the head; then the ledger itself says that there was a log (`LogLost`).

A file is written under another name, synced and renamed; then its folder is synced. `Disk` does all of it, so
that tests can die between any two of these steps, and lose what was not synced.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from infrastructure.evidence import merkle
from infrastructure.evidence.edge import Edge, Tile
from infrastructure.evidence.files import Disk
from infrastructure.evidence.folder import (
    CHECKPOINT,
    COSIGNED,
    HEAD,
    KEYS,
    Generation,
    Head,
    has_begun,
    head_text,
    read_head,
)
from infrastructure.evidence.notes import (
    Checkpoint,
    NoteError,
    Signer,
    parse_note,
    parse_vkey,
    verify,
    write_note,
)
from infrastructure.evidence.tiles import LEVEL_MAX, entries_path, tile_path
from infrastructure.evidence.unavailable import LogUnavailable

PARTIAL: Final = ".p"
BUNDLED: Final = "bundled"
UNSIGNED_MAX: Final = 1 << 16
"""No more leaves than this are written at once, and so left behind without a signature."""


class LogLost(RuntimeError):
    """What was signed is not there, or is not this ledger's. The message says what is missing."""


class LogAhead(RuntimeError):
    """The folder holds a log that the ledger does not know of yet: the ledger was put back to before it."""

    def __init__(self, head: Head) -> None:
        super().__init__(f"the log's generation {head.generation} is not in the ledger")
        self.head = head


class TilesDamaged(RuntimeError):
    """The tiles do not have the root that was signed."""


class SealedLog:
    """The files of one generation. One process at a time may have it.

    `edge`, `head` and `last_leaf` (its hash) are those of what was signed last; `head` is None before that.
    """

    def __init__(self, folder: Path, generation: int, origin: str, disk: Disk) -> None:
        self.folder = folder
        self.number = generation
        self.origin = origin
        self.reader = Generation(folder / str(generation))
        self.head: Head | None = None
        self.edge = Edge()
        self._disk = disk
        self._place = self.reader.place
        self.last_leaf = b""
        self._partial: set[tuple[int, int, int]] = set()  # those of the edge that this object wrote

    @property
    def size(self) -> int:
        """How many leaves the tree has that was signed last."""
        return 0 if self.head is None else self.head.checkpoint.size

    @property
    def root(self) -> bytes:
        """The root of that tree."""
        return merkle.EMPTY_ROOT if self.head is None else self.head.checkpoint.root

    # ── Coming back ─────────────────────────────────────────────────────────────────────────────────────────
    def load_head(self) -> None:
        """Find what was signed last. Raises LogLost, LogAhead, and LogUnavailable where it cannot be read."""
        head = read_head(self.folder)
        published = self.reader.newest()
        if head is not None and head.generation > self.number:
            raise LogAhead(head)
        if head is None or head.generation < self.number:
            self._require_new(published)
            return
        if head.checkpoint.origin != self.origin:
            raise LogUnavailable(f"the folder's log is {head.checkpoint.origin}, the ledger's {self.origin}")
        if published is not None and published.size >= head.checkpoint.size and published != head.checkpoint:
            raise LogLost("another tree is published than was signed last")
        self.head = head

    def require_signed(self, vkeys: Iterable[str]) -> None:
        """Raise LogLost unless one of these keys signed what was signed last: only then it tells anything."""
        if self.head is None:
            return
        try:
            verify(parse_note(self.head.note), map(parse_vkey, vkeys))
        except NoteError as error:
            raise LogLost(f"what was signed last is not what we signed: {error}") from error

    def publish_head(self) -> None:
        """Publish what was signed last, where that was still to be done. Raises LogUnavailable, OSError."""
        if self.head is not None and self.reader.newest() != self.head.checkpoint:
            self._disk.write(self._place / CHECKPOINT, self.head.note)

    def load_edge(self) -> None:
        """Read the edge of what was signed last. Raises TilesDamaged, OSError."""
        checkpoint = None if self.head is None else self.head.checkpoint
        if checkpoint is None:
            self._take_unsigned_away(Edge())
            return
        try:
            read = Generation(self._place).hashes(checkpoint.size)
            edge, last_leaf = Edge.of(checkpoint.size, read), read(0, checkpoint.size - 1)
        except LogUnavailable as error:
            raise TilesDamaged(str(error)) from error
        if edge.root() != checkpoint.root:
            raise TilesDamaged("the tiles do not have the root that was signed")
        self._take_unsigned_away(edge)
        self._tidy_leftovers(edge)
        self.edge, self.last_leaf = edge, last_leaf

    def _require_new(self, published: Checkpoint | None) -> None:
        """Raise LogLost unless this generation has only begun."""
        if published is not None:
            raise LogLost(f"generation {self.number} was published, and what was signed last is gone")
        if not has_begun(self.folder, self.number):
            raise LogLost(f"the folder {self.folder} is not the one in which generation {self.number} began")

    def _take_unsigned_away(self, edge: Edge) -> None:
        """Take away the tiles that are wider than those of what was signed, which a crash left behind.

        The ones that were signed are written again before: they may have been read out of wider ones.
        """
        unsigned: list[Path] = []
        for level in range(LEVEL_MAX + 1):
            first, width = divmod(edge.size >> merkle.TILE_HEIGHT * level, merkle.TILE_WIDTH)
            end = first + (UNSIGNED_MAX >> merkle.TILE_HEIGHT * (level + 1)) + 2
            for number in range(first, end):
                unsigned += self._wider(level, number, width if number == first else 0)
        if unsigned:
            self.write_tiles(edge.partial())
            for each in unsigned:
                self._disk.remove(each)

    def _wider(self, level: int, number: int, width: int) -> list[Path]:
        """The files of a tile that have more hashes of it than so many: who reads it takes those first."""
        whole = self._place / tile_path(level, number)
        wider = [whole] if whole.exists() else []
        with suppress(FileNotFoundError):
            partial = list(whole.with_name(whole.name + PARTIAL).iterdir())
            wider += [each for each in partial if each.name.isdecimal() and int(each.name) > width]
        return wider

    def _tidy_leftovers(self, edge: Edge) -> None:
        """Take away the partial tiles of whole ones, which a crash left behind near the edge."""
        for level in range(LEVEL_MAX + 1):
            whole = edge.size >> merkle.TILE_HEIGHT * (level + 1)
            if not whole:
                break
            last = self._place / tile_path(level, whole - 1)
            with suppress(FileNotFoundError):
                for each in list(last.parent.iterdir()):
                    if each.suffix == PARTIAL and each.stem <= last.name:
                        self._disk.remove(each)

    # ── Going on ────────────────────────────────────────────────────────────────────────────────────────────
    def write_keys(self, vkeys: Sequence[str]) -> None:
        """Let everybody know the keys, the newest first, before the newest one signs. Raises OSError."""
        if self.reader.keys() != list(vkeys):
            self._disk.make_folder(self._place, self.folder)
            self._disk.write(self._place / KEYS, "".join(f"{vkey}\n" for vkey in vkeys).encode())

    def seal(self, leaves: Sequence[bytes], signer: Signer) -> Head:
        """Add leaf hashes, sign the larger tree and publish it; return its head.

        After an OSError the folder is to be loaded anew: how far this came, only the folder knows.
        """
        edge = self.edge.copy()
        whole = edge.add(leaves)
        checkpoint = Checkpoint(self.origin, edge.size, edge.root())
        if signer.name != self.origin or checkpoint.size <= self.size:
            raise ValueError("a log signs only larger trees of its own")
        partial = edge.partial()
        self.write_tiles([*whole, *(tile for tile in partial if tile.place not in self._partial)])
        self._partial = {tile.place for tile in partial}
        text = checkpoint.body()
        head = Head(self.number, checkpoint, write_note(text, [signer.sign(text)]))
        self._disk.write(self.folder / HEAD, head_text(head))
        self._disk.write(self._place / CHECKPOINT, head.note)
        for tile in whole:
            self._disk.remove(self._partials(tile))
        self.edge, self.head, self.last_leaf = edge, head, leaves[-1]
        return head

    def publish_cosigned(self, note: bytes, *, by_all: bool) -> None:
        """Publish a checkpoint of ours with the signatures of witnesses. Raises OSError.

        It is told as the newest one only while there is no newer one.
        """
        if by_all:
            self._disk.write(self._place / COSIGNED, note)
        if self.head is not None and parse_note(note).text == self.head.checkpoint.body():
            self._disk.write(self._place / CHECKPOINT, note)

    def write_bundles(self, bundles: Iterable[tuple[int, bytes]]) -> None:
        """Write whole entry bundles, of these numbers. Raises OSError."""
        self._put_all([(self._place / entries_path(number), bundle) for number, bundle in bundles])

    def has_bundle(self, number: int) -> bool:
        """Say whether a tile has its bundle."""
        return (self._place / entries_path(number)).exists()

    def write_tiles(self, tiles: Iterable[Tile]) -> None:
        """Write tiles in place of those that are there, wider ones too. Raises OSError."""
        written = list(tiles)
        self._put_all([(self._place / tile_path(*tile.place), tile.hashes) for tile in written])
        for tile in written:
            if tile.width < merkle.TILE_WIDTH:
                for each in self._wider(*tile.place):
                    self._disk.remove(each)

    @property
    def bundled(self) -> int:
        """How many of the first tiles are known to have their bundles: a hint of where to begin to look."""
        with suppress(OSError, ValueError):
            return max(0, int((self._place / BUNDLED).read_text()))
        return 0

    @bundled.setter
    def bundled(self, count: int) -> None:
        self._disk.write(self._place / BUNDLED, f"{count}\n".encode())

    def _put_all(self, contents: Sequence[tuple[Path, bytes]]) -> None:
        folders = list(dict.fromkeys(path.parent for path, _ in contents))
        for folder in folders:
            self._disk.make_folder(folder, self.folder)
        self._disk.put_all(contents)
        for folder in folders:
            self._disk.sync(folder)

    def _partials(self, tile: Tile) -> Path:
        whole = self._place / tile_path(tile.level, tile.number)
        return whole.with_name(whole.name + PARTIAL)
