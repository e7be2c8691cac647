"""A folder of tables that take long to count: kept whole, checked when read, and counted again where damaged.

Each file is one set of arrays. Its first line is a JSON header with the arrays' names, types and shapes, what
they depend on (``key``) and the SHA-256 of all bytes behind it; its name has the hash of kind and key. A file
appears whole or not at all. One that is damaged, or that another key made, is not there: it is removed.

Nothing here is part of the ledger: the folder can be deleted at any time.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import mmap
import os
import re
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

Arrays: TypeAlias = Mapping[str, NDArray[Any]]

FORMAT: Final = "stud-ledger odds 1"
ALIGNMENT: Final = 64
"""Arrays begin at multiples of it, so that they can be read where they lie."""
HEADER_BYTES_MAX: Final = 65_536
KEEP_DEFAULT: Final = 8
DRAFT_SECONDS_MAX: Final = 3600
"""Drafts older than this were left by a process that ended in the middle."""
_KIND: Final = re.compile(r"[a-z][a-z0-9_]{0,30}")


class _Place(NamedTuple):
    name: str
    dtype: str
    shape: tuple[int, ...]
    begins: int


class Shelf:
    """The folder ``directory``, made when something is put there.

    `get` and `put` never raise for what is wrong with the folder: a shelf saves time, and what cannot be kept
    is counted again.
    """

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def get(self, kind: str, key: Mapping[str, Any]) -> dict[str, NDArray[Any]] | None:
        """Return the arrays put under exactly this key, read-only; None where there are none that are whole.

        ``key``: everything that the arrays depend on, as plain JSON values.
        """
        path = self._path(kind, key)
        try:
            with path.open("rb") as file:
                whole = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
        except (OSError, ValueError):  # not there, not ours to read, or empty
            return None
        arrays = _read(whole, _key_text(kind, key))
        with contextlib.suppress(OSError):
            if arrays is None:
                path.unlink()
            else:
                os.utime(path)
        return arrays

    def put(self, kind: str, key: Mapping[str, Any], arrays: Arrays, keep: int = KEEP_DEFAULT) -> bool:
        """Keep arrays under a key, of their kind the ``keep`` used last, and tell whether that worked."""
        path = self._path(kind, key)
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            _write(path, _key_text(kind, key), arrays)
            self._tidy(kind, keep)
        except OSError:
            return False
        return True

    def _path(self, kind: str, key: Mapping[str, Any]) -> Path:
        if not _KIND.fullmatch(kind):
            raise ValueError(f"not a kind of table: {kind!r}")
        digest = hashlib.sha256(_key_text(kind, key).encode()).hexdigest()
        return self._directory / f"{kind}-{digest[:32]}.odds"

    def _tidy(self, kind: str, keep: int) -> None:
        """Remove the oldest files of a kind, and drafts that nobody will finish."""
        files = sorted(self._directory.glob(f"{kind}-*.odds"), key=_used_at, reverse=True)
        now = time.time()
        drafts = [p for p in self._directory.glob("*.new") if now - _used_at(p) > DRAFT_SECONDS_MAX]
        for path in (*files[keep:], *drafts):
            path.unlink(missing_ok=True)


def _used_at(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:  # another process has just removed it
        return 0.0


def _key_text(kind: str, key: Mapping[str, Any]) -> str:
    return json.dumps({"kind": kind, **key}, sort_keys=True, separators=(",", ":"))


def _aligned(size: int) -> int:
    return -size % ALIGNMENT


def _write(path: Path, key: str, arrays: Arrays) -> None:
    """Write a file whole or not at all, and on the disk when this returns. Raises OSError."""
    places, begins = [], 0
    plain = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    digest = hashlib.sha256()
    for name, array in plain.items():
        places.append(_Place(name, array.dtype.str, arrays[name].shape, begins))
        digest.update(_bytes(array))
        digest.update(bytes(_aligned(array.nbytes)))
        begins += array.nbytes + _aligned(array.nbytes)
    header = {"format": FORMAT, "key": key, "sha256": digest.hexdigest(), "arrays": places}
    line = json.dumps(header).encode()
    line += b" " * _aligned(len(line) + 1) + b"\n"
    descriptor, name = tempfile.mkstemp(prefix=path.stem, suffix=".new", dir=path.parent)
    draft = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(line)
            for array in plain.values():
                file.write(_bytes(array))
                file.write(bytes(_aligned(array.nbytes)))
            file.flush()
            os.fsync(file.fileno())
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync(path.parent)


def _bytes(array: NDArray[Any]) -> memoryview:
    return array.reshape(-1).view(np.uint8).data


def _sync(directory: Path) -> None:
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _read(whole: mmap.mmap, key: str) -> dict[str, NDArray[Any]] | None:
    """Return the arrays of a file's bytes, or None unless it is whole and of this key."""
    end = whole.find(b"\n", 0, HEADER_BYTES_MAX) + 1
    try:
        header = json.loads(whole[:end])
        if (header["format"], header["key"]) != (FORMAT, key):
            return None
        body = memoryview(whole)[end:]
        if hashlib.sha256(body).hexdigest() != header["sha256"]:
            return None
        places = [_Place(*place) for place in header["arrays"]]
        return {
            place.name: np.ndarray(place.shape, np.dtype(place.dtype), body, place.begins) for place in places
        }
    except (ValueError, KeyError, TypeError):
        return None
