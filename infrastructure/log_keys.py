"""The keys that sign the evidence log: ``log-<n>.key`` beside the service's other keys, a secret seed each.

Which of them signs, the ledger says: its log has a verifier key, and the file is the one with that key's
secret half. Where it is missing nothing takes its place: whoever knows the log knows it by its key.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from infrastructure.evidence.notes import NoteError, Signer, parse_vkey
from infrastructure.keys import KeysError, check_directory, load_key

FIRST: Final = 1
_FILE: Final = re.compile(r"log-([1-9][0-9]{0,3})\.key")


def load_or_create(folder: Path, origin: str) -> Signer:
    """The newest key in a folder, or a first one, for a log that has not started yet.

    Two services that start at once end up with the same key. Raises KeysError.
    """
    check_directory(folder)
    newest = max(_numbers(folder), default=FIRST)
    return _signer(folder, newest, origin, may_create=True)


def load_for(folder: Path, vkey: str) -> Signer:
    """The key that signs a log whose verifier key is this one. Raises KeysError where the folder has none."""
    try:
        verifier = parse_vkey(vkey)
    except NoteError as error:
        raise KeysError(f"the log's verifier key is damaged: {error}") from error
    for number in sorted(_numbers(folder), reverse=True):
        signer = _signer(folder, number, verifier.name, may_create=False)
        if signer.verifier == verifier:
            return signer
    raise KeysError(f"no log-<n>.key in {folder} is the key of {vkey}: put it back from a backup of the keys")


def create_next(folder: Path, origin: str) -> Signer:
    """Make one more key, for a log of this name to be signed with from some time on. Raises KeysError."""
    check_directory(folder)
    number = max(_numbers(folder), default=FIRST - 1) + 1
    return _signer(folder, number, origin, may_create=True)


def _signer(folder: Path, number: int, origin: str, *, may_create: bool) -> Signer:
    return Signer.from_seed(origin, load_key(folder / f"log-{number}.key", may_create=may_create))


def _numbers(folder: Path) -> list[int]:
    try:
        found = [match for each in folder.iterdir() if (match := _FILE.fullmatch(each.name))]
    except OSError as error:
        raise KeysError(f"the key directory {folder} cannot be used: {error.strerror}") from error
    return [int(match[1]) for match in found]
