"""The service's secrets, each in a file of its own that only the service's user reads.

    token.key       signs and checks access tokens
    deck-<n>.key    seals the seeds of open rounds; the highest number seals, the others still open
    log-<n>.key     signs the evidence log (`infrastructure.log_keys`)
    app.password    auditor.password    database roles of the embedded server

A ledger that has events was written with certain keys. Where one of them is missing, making a new one would
leave open rounds sealed for ever and say nothing, so the service refuses to start instead. Passwords are
different: whoever can prepare the database can set them anew.
"""

from __future__ import annotations

import os
import re
import secrets
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from infrastructure.seals import KEY_BYTES

TOKEN_FILE: Final = "token.key"  # noqa: S105  # the name of a file
FIRST_DECK_FILE: Final = "deck-0.key"
PASSWORDS: Final = ("app", "auditor")

_DECK_FILE: Final = re.compile(r"deck-(25[0-5]|2[0-4][0-9]|1[0-9]{2}|[1-9]?[0-9])\.key")
_HEX_KEY: Final = re.compile(r"[0-9a-f]{64}\n?")
_PASSWORD: Final = re.compile(r"[A-Za-z0-9_-]{20,200}\n?")
_PASSWORD_BYTES: Final = 24
_OTHERS_WRITE: Final = 0o022
_OTHERS: Final = 0o077
_FILE_BYTES_MAX: Final = 4096


class KeysError(RuntimeError):
    """A key is missing, malformed, or open to others. The message is one line that says what to do."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What is secret. `deck` maps key numbers to 32 bytes, `passwords` the roles to theirs."""

    directory: Path
    token: bytes = field(repr=False)
    deck: dict[int, bytes] = field(repr=False)
    passwords: dict[str, str] = field(repr=False)

    @classmethod
    def load_or_create(cls, directory: Path, *, ledger_is_empty: bool) -> Keys:
        """Return the keys in a directory, made where they are missing and the ledger has no events yet.

        Two services that start at once end up with the same keys. Raises KeysError.
        """
        check_directory(directory)
        token = load_key(directory / TOKEN_FILE, may_create=ledger_is_empty)
        names = [name.name for name in directory.iterdir() if _DECK_FILE.fullmatch(name.name)] or [
            FIRST_DECK_FILE
        ]
        deck = {int(name[5:-4]): load_key(directory / name, may_create=ledger_is_empty) for name in names}
        return cls(directory, token, deck, load_passwords(directory))


def load_token_key(directory: Path) -> bytes:
    """Return the key that tokens are signed with, from a service that has been started. Raises KeysError."""
    if not (directory / TOKEN_FILE).exists():
        raise KeysError(
            f"there is no key in {directory}: start the service once, or name its --data-dir or --keys"
        )
    return load_key(directory / TOKEN_FILE, may_create=False)


def load_passwords(directory: Path) -> dict[str, str]:
    """Return the database roles' passwords, made where they are missing. Raises KeysError."""
    check_directory(directory)
    found = {}
    for role in PASSWORDS:
        text = _load_or_write(directory / f"{role}.password", secrets.token_urlsafe(_PASSWORD_BYTES))
        if not _PASSWORD.fullmatch(text):
            raise KeysError(f"{directory / role}.password is malformed: remove it to have a new one made")
        found[role] = text.strip()
    return found


def load_key(path: Path, *, may_create: bool) -> bytes:
    """Return the 32 bytes in a key's file, made anew where there is none and that is allowed.

    Raises KeysError.
    """
    text = _load_or_write(path, secrets.token_hex(KEY_BYTES) if may_create else None)
    if not _HEX_KEY.fullmatch(text):
        raise KeysError(f"{path} is not a key (64 hexadecimal digits): put the right file back")
    return bytes.fromhex(text.strip())


def check_directory(directory: Path) -> None:
    """Make the keys' folder where there is none. Raises KeysError where others may write to it."""
    try:
        directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        if directory.stat().st_mode & _OTHERS_WRITE:
            raise KeysError(f"others may write to the key directory {directory}: chmod 700 it")
    except OSError as error:
        raise KeysError(f"the key directory {directory} cannot be used: {error.strerror}") from error


def _load_or_write(path: Path, new: str | None) -> str:
    """Return a file's text, or that of a new file where there is none and `new` says what to write."""
    try:
        with suppress(FileNotFoundError):
            return _load(path)
        if new is None:
            raise KeysError(f"the key {path} is missing but the ledger has events: put it back from a backup")
        _write(path, new + "\n")
        return _load(path)
    except OSError as error:
        raise KeysError(f"{path} cannot be used: {error.strerror}") from error


def _load(path: Path) -> str:
    with path.open(encoding="ascii", errors="replace") as file:
        if os.fstat(file.fileno()).st_mode & _OTHERS:
            raise KeysError(f"{path} is open to others than its owner: chmod 600 it")
        return file.read(_FILE_BYTES_MAX)


def _write(path: Path, text: str) -> None:
    """Write a new file that is there whole or not at all; leave one that somebody else wrote meanwhile."""
    descriptor, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(descriptor, "w", encoding="ascii") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        with suppress(FileExistsError):
            os.link(temporary, path)
    finally:
        Path(temporary).unlink()
    directory = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(directory)
    finally:
        os.close(directory)
