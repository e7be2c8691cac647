"""Access tokens: JSON Web Tokens (RFC 7519) signed with the service's own key, HS256.

A token says who the client is (`client_id`: owner of its idempotency keys across renewals), who acts (`sub`:
the actor that events name) and what it may do (`scope`, separated by spaces).
"""

from __future__ import annotations

import hashlib
import re
import time
from collections import OrderedDict
from typing import Final, NamedTuple

import jwt

from api.problems import scope_missing, unauthenticated
from infrastructure.ledger.submission import LEDGER_CLIENT

SCOPES: Final = ("play", "cashier", "admin", "reports", "audit", "disputes", "disputes:approve")
TTL_SECONDS_DEFAULT: Final = 24 * 3600
TTL_SECONDS_MAX: Final = 366 * 24 * 3600
VERIFIED_MAX: Final = 1024
TOKEN_BYTES_MAX: Final = 4096
LEEWAY_SECONDS: Final = 5

_ALGORITHM: Final = "HS256"
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BEARER: Final = b"bearer "


class TokenError(ValueError):
    """A token that cannot be made; the message says why."""


class Token(NamedTuple):
    """A verified token. `expires_at` in seconds since the epoch."""

    client_id: str
    actor: str
    scopes: frozenset[str]
    expires_at: int

    def require(self, scopes: frozenset[str]) -> None:
        """Raise Problem scope_missing unless the token has one of `scopes`."""
        if scopes.isdisjoint(self.scopes):
            raise scope_missing(scopes)


def mint(
    key: bytes, scopes: str, *, client_id: str, actor: str, ttl_seconds: int, now: int | None = None
) -> str:
    """Return a token. `scopes` are separated by spaces. Raises TokenError for what no service accepts."""
    names = scopes.split()
    unknown = sorted(set(names) - set(SCOPES))
    if not names or unknown:
        raise TokenError(f"scopes are {', '.join(SCOPES)}; not {' '.join(unknown) or 'none'}")
    for what, name in (("client", client_id), ("actor", actor)):
        if not _NAME.fullmatch(name):
            raise TokenError(f"the {what} is 1 to 64 letters, digits, dots, dashes and underscores")
        if name == LEDGER_CLIENT:
            raise TokenError(f"{LEDGER_CLIENT} is the ledger itself: no token acts as it")
    if not 1 <= ttl_seconds <= TTL_SECONDS_MAX:
        raise TokenError(f"a token lives 1 to {TTL_SECONDS_MAX} seconds")
    issued = int(time.time()) if now is None else now
    claims = {
        "client_id": client_id,
        "sub": actor,
        "scope": " ".join(names),
        "iat": issued,
        "exp": issued + ttl_seconds,
    }
    return jwt.encode(claims, key, algorithm=_ALGORITHM)


class Tokens:
    """Verifies tokens. What has been verified is remembered, by its hash, until it expires."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._verified: OrderedDict[bytes, Token] = OrderedDict()

    def verify(self, authorization: bytes | None) -> Token:
        """Return the token of an Authorization header. Raises Problem unauthenticated."""
        if authorization is None:
            raise unauthenticated("Send an access token: Authorization: Bearer …")
        if authorization[: len(_BEARER)].lower() != _BEARER or len(authorization) > TOKEN_BYTES_MAX:
            raise unauthenticated("The Authorization header is not Bearer and a token.")
        digest = hashlib.sha256(authorization[len(_BEARER) :]).digest()
        token = self._verified.get(digest)
        if token is None:
            token = self._decode(authorization[len(_BEARER) :].strip())
            self._verified[digest] = token
            if len(self._verified) > VERIFIED_MAX:
                self._verified.popitem(last=False)
        elif token.expires_at + LEEWAY_SECONDS <= time.time():
            del self._verified[digest]
            raise unauthenticated("The access token has expired.")
        else:
            self._verified.move_to_end(digest)
        return token

    def _decode(self, encoded: bytes) -> Token:
        required = ["client_id", "sub", "scope", "iat", "exp"]
        try:
            claims = jwt.decode(
                encoded,
                self._key,
                algorithms=[_ALGORITHM],
                options={"require": required},
                leeway=LEEWAY_SECONDS,
            )
        except jwt.ExpiredSignatureError:
            raise unauthenticated("The access token has expired.") from None
        except (jwt.InvalidTokenError, ValueError):
            raise unauthenticated("The access token is not one of this service's.") from None
        client_id, actor, scope = claims["client_id"], claims["sub"], claims["scope"]
        names = (client_id, actor)
        if not isinstance(scope, str) or not all(isinstance(n, str) and _NAME.fullmatch(n) for n in names):
            raise unauthenticated("The access token's claims are not of this service's form.")
        if LEDGER_CLIENT in names:
            raise unauthenticated("No token acts as the ledger itself.")
        return Token(client_id, actor, frozenset(scope.split()), int(claims["exp"]))
