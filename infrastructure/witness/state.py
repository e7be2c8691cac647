"""What a witness must never forget: its key, its name, and the last tree of each log that it signed.

    witness.key    the Ed25519 seed, 64 hexadecimal digits, for the owner alone
    witness.name   the name in its signatures
    state.json     origin → size, root and the checkpoint as it was signed
    refused/       checkpoints that a log signed and that do not continue what the witness has seen
    lock           held by the one process that works on the folder

`state.json` is replaced whole, and is on the disk before a signature leaves the witness. A folder that has
lost one of its parts is refused and never begun anew: a witness that forgets would sign a second history. For
the same reason an older copy of the folder must not be put in its place.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import secrets
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Iterator

FORMAT: Final = "stud-ledger/witness/1"
REFUSED_MAX: Final = 100
"""How many refused checkpoints of each kind are kept: the first ones, which show when it began."""

_SEED_BYTES: Final = 32
_HASH_BYTES: Final = 32
_SEED: Final = re.compile(r"[0-9a-f]{64}\n?")
_NAME: Final = re.compile(r"[!-*,-~]{1,200}")
_OTHERS: Final = 0o077
_OTHERS_WRITE: Final = 0o022
_STATE_BYTES_MAX: Final = 16 * 1024 * 1024
_SHORT_BYTES_MAX: Final = 4096


class StateError(RuntimeError):
    """The folder cannot be used. The message is one line that says what to do."""


class InUseError(StateError):
    """Another process works on the folder."""


@dataclass(frozen=True, slots=True)
class Seen:
    """The last tree of a log that was signed: its size, its root (32 bytes), the note with our signature."""

    size: int
    root: bytes
    note: str


class State:
    """A witness's folder, held by one process. Made with `State.open`."""

    def __init__(self, folder: Path, seed: bytes, name: str, seen: dict[str, Seen]) -> None:
        self._folder = folder
        self.seed = seed
        self.name = name
        self._seen = seen

    def __repr__(self) -> str:
        return f"State({str(self._folder)!r}, {self.name!r})"  # and not the seed

    @classmethod
    @contextmanager
    def open(cls, folder: Path, name: str | None = None) -> Iterator[State]:
        """Yield the state in a folder, made where there is none yet; nobody else can open it meanwhile.

        `name` is what a new witness is called; one that has a name keeps it. Raises StateError.
        """
        try:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if folder.stat().st_mode & _OTHERS_WRITE:
                raise StateError(f"others may write to {folder}: chmod 700 it")
            lock = os.open(folder / "lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as problem:
            raise StateError(f"{folder} cannot be used: {problem.strerror}") from None
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                raise InUseError(f"another witness works on {folder}: stop it first") from None
            yield cls._load(folder, name)
        finally:
            os.close(lock)

    @classmethod
    def _load(cls, folder: Path, name: str | None) -> State:
        try:
            seen = _read_seen(folder)
            if seen is None:
                # First of all: a key without it belongs to a witness that has lost its memory.
                seen = {}
                _write_seen(folder, seen)
            seed = _seed(folder / "witness.key", may_create=not seen)
            return cls(folder, seed, _name(folder / "witness.name", name, may_create=not seen), seen)
        except OSError as problem:
            raise StateError(f"{problem.filename or folder} cannot be used: {problem.strerror}") from None

    @property
    def origins(self) -> list[str]:
        """The logs of which a tree was signed."""
        return sorted(self._seen)

    def last(self, origin: str) -> Seen | None:
        """Return the last tree of a log that was signed, None where none was."""
        return self._seen.get(origin)

    def record(self, origin: str, seen: Seen) -> None:
        """Put a tree in the place of the last one; it is on the disk when this returns.

        Raises OSError where it cannot be written; the last one then stays.
        """
        after = self._seen | {origin: seen}
        _write_seen(self._folder, after)
        self._seen = after

    def keep_refused(self, kind: str, note: bytes) -> bool:
        """Keep a checkpoint that a log signed and that was not signed here; say whether it is a new one.

        It is proof, or a lead to it; `kind` is `fork` or `unproven`. Only so many are kept.
        """
        place = self._folder / "refused"
        place.mkdir(mode=0o700, exist_ok=True)
        path = place / f"{kind}-{hashlib.sha256(note).hexdigest()}"
        if path.exists() or sum(1 for _ in place.glob(f"{kind}-*")) >= REFUSED_MAX:
            return False
        _write(path, note)
        return True


def _read_seen(folder: Path) -> dict[str, Seen] | None:
    """Return what was seen, None in a folder that never held a witness."""
    path = folder / "state.json"
    try:
        with path.open("rb") as file:
            raw = file.read(_STATE_BYTES_MAX + 1)
    except FileNotFoundError:
        if (folder / "witness.key").exists():
            raise StateError(
                f"{path} is missing: put it back, or begin a new witness with a new key in another folder"
            ) from None
        return None
    try:
        if len(raw) > _STATE_BYTES_MAX:
            raise ValueError  # noqa: TRY301  # the one answer to everything that is wrong with it
        return _seen_of(json.loads(raw))
    except (ValueError, KeyError, TypeError, AttributeError):
        raise StateError(f"{path} is damaged: begin a new witness with a new key in another folder") from None


def _seen_of(read: Any) -> dict[str, Seen]:
    """Return what a state file says; raises ValueError, KeyError, TypeError, AttributeError if it is none."""
    if read["format"] != FORMAT:
        raise ValueError(read["format"])
    found = {}
    for origin, entry in read["logs"].items():
        seen = Seen(entry["size"], bytes.fromhex(entry["root"]), entry["note"])
        if type(seen.size) is not int or seen.size < 0 or len(seen.root) != _HASH_BYTES:
            raise ValueError(origin)
        found[origin] = seen
    return found


def _write_seen(folder: Path, seen: dict[str, Seen]) -> None:
    logs = {
        origin: {"size": each.size, "root": each.root.hex(), "note": each.note}
        for origin, each in seen.items()
    }
    _write(folder / "state.json", json.dumps({"format": FORMAT, "logs": logs}, indent=1).encode() + b"\n")


def _seed(path: Path, *, may_create: bool) -> bytes:
    if not path.exists():
        if not may_create:
            raise StateError(f"the key {path} is missing but the witness has signed: put it back")
        _write(path, f"{secrets.token_hex(_SEED_BYTES)}\n".encode())
    if path.stat().st_mode & _OTHERS:
        raise StateError(f"{path} is open to others than its owner: chmod 600 it")
    if not _SEED.fullmatch(text := _text(path)):
        raise StateError(f"{path} is not a key (64 hexadecimal digits): put the right file back")
    return bytes.fromhex(text.strip())


def _name(path: Path, wanted: str | None, *, may_create: bool) -> str:
    if wanted is not None and not _NAME.fullmatch(wanted):
        raise StateError("a witness's name is 1 to 200 visible ASCII characters without '+'")
    if not path.exists():
        if not may_create:
            raise StateError(f"the name {path} is missing but the witness has signed: put it back")
        _write(path, f"{wanted or f'stud-ledger/witness/{secrets.token_hex(8)}'}\n".encode())
    name = _text(path).strip()
    if not _NAME.fullmatch(name):
        raise StateError(f"{path} is not a name: put the right file back")
    if wanted not in {None, name}:
        raise StateError(f"this witness is called {name}: leave --name out, or choose another --state folder")
    return name


def _text(path: Path) -> str:
    with path.open(encoding="ascii", errors="replace") as file:
        return file.read(_SHORT_BYTES_MAX)


def _write(path: Path, data: bytes) -> None:
    """Write a file that is there whole or as it was before, on the disk when this returns."""
    temporary = path.with_name(f".{path.name}.new")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except OSError:
        with suppress(OSError):
            temporary.unlink()
        raise
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)
