"""A person's own key: a file that only its owner reads, made where that person works.

The private half (Ed25519, as PEM after RFC 8410) never leaves the file. The public half, 32 bytes in
base64url, is what an administrator registers.
"""

from __future__ import annotations

import os
from base64 import urlsafe_b64encode
from pathlib import Path

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_pem_private_key,
)

from infrastructure.keys import KeysError

_FILE_BYTES_MAX = 4096
_OTHERS = 0o077


def make(path: Path) -> str:
    """Write a new key to a new file and return its public half.

    Raises KeysError, also where the file is there: whoever holds the key in it would lose it.
    """
    key = Ed25519PrivateKey.generate()
    text = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError:
        raise KeysError(f"{path} is there already: name a new file for a new key") from None
    except OSError as error:
        raise KeysError(f"{path} cannot be written: {error.strerror}") from error
    return public_text(key)


def load(path: Path) -> Ed25519PrivateKey:
    """Return the key in a file. Raises KeysError, also where others than its owner may read it."""
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_mode & _OTHERS:
                raise KeysError(f"{path} is open to others than its owner: chmod 600 it")
            text = file.read(_FILE_BYTES_MAX)
    except OSError as error:
        raise KeysError(f"{path} cannot be read: {error.strerror}") from error
    try:
        key = load_pem_private_key(text, None)
    except (ValueError, TypeError, UnsupportedAlgorithm):
        key = None
    if not isinstance(key, Ed25519PrivateKey):
        raise KeysError(f"{path} is not a person's key: scripts/token --new-person makes one")
    return key


def public_text(key: Ed25519PrivateKey) -> str:
    """The public half of a key: 32 bytes in base64url without padding, 43 characters."""
    return urlsafe_b64encode(key.public_key().public_bytes_raw()).decode().rstrip("=")
