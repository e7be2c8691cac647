"""Access tokens: JSON Web Tokens (RFC 7519), a service's or a person's.

A service token is signed with the service's own key (HS256). It says who the client is (`client_id`: owner of
its idempotency keys across renewals), who acts (`sub`: the actor that events name) and what it may do
(`scope`, separated by spaces).

A person's token is signed with a key that only this person holds (EdDSA, RFC 8037: Ed25519), whose public
half was registered. `kid` in its header and `sub` are the person's id; it allows what it names in `scope`
and the person was registered for. Which key checks a token follows from its algorithm alone, so that no
public key is ever taken for a secret.
"""

from __future__ import annotations

import hashlib
import re
import time
from base64 import urlsafe_b64decode
from collections import OrderedDict
from typing import Any, Final, NamedTuple

import jwt
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey

from api.people.known import KnownPeople
from api.problems import Problem, overloaded, scope_missing, unauthenticated
from domain.registers import Person
from infrastructure.ledger.submission import LEDGER_CLIENT
from infrastructure.reading import ReadingUnavailable

SCOPES: Final = ("play", "cashier", "admin", "reports", "audit", "disputes", "disputes:approve")
TTL_SECONDS_DEFAULT: Final = 24 * 3600
TTL_SECONDS_MAX: Final = 366 * 24 * 3600
PERSON_TTL_SECONDS_DEFAULT: Final = 3600
PERSON_TTL_SECONDS_MAX: Final = 24 * 3600
"""People make their tokens themselves: one that is lost is of use for a day at most."""
VERIFIED_MAX: Final = 1024
TOKEN_BYTES_MAX: Final = 4096
LEEWAY_SECONDS: Final = 5

_ALGORITHM: Final = "HS256"
_PERSON_ALGORITHM: Final = "EdDSA"
_PERSON_CLIENT: Final = "person:"
"""Before a person's id: no service token can be made for such a client, so no keys are shared with one."""
_NAME: Final = re.compile(r"[A-Za-z0-9._-]{1,64}")
_BEARER: Final = b"bearer "


class TokenError(ValueError):
    """A token that cannot be made; the message says why."""


class Token(NamedTuple):
    """A verified token. `expires_at` in seconds since the epoch.

    `person` is the registered person who signed it; None: it is the service's, whatever its actor is called.
    """

    client_id: str
    actor: str
    scopes: frozenset[str]
    expires_at: int
    person: str | None = None

    def require(self, scopes: frozenset[str]) -> None:
        """Raise Problem scope_missing unless the token has one of `scopes`."""
        if scopes.isdisjoint(self.scopes):
            raise scope_missing(scopes)


def mint(
    key: bytes, scopes: str, *, client_id: str, actor: str, ttl_seconds: int, now: int | None = None
) -> str:
    """Return a token. `scopes` are separated by spaces. Raises TokenError for what no service accepts."""
    names = _scope_names(scopes)
    for what, name in (("client", client_id), ("actor", actor)):
        check_name(what, name)
    claims = {"client_id": client_id, **_claims(actor, names, ttl_seconds, TTL_SECONDS_MAX, now)}
    return jwt.encode(claims, key, algorithm=_ALGORITHM)


def mint_person(
    key: Ed25519PrivateKey, person_id: str, scopes: str, *, ttl_seconds: int, now: int | None = None
) -> str:
    """Return a person's token. It allows nothing that they were not registered for. Raises TokenError."""
    check_name("person", person_id)
    claims = _claims(person_id, _scope_names(scopes), ttl_seconds, PERSON_TTL_SECONDS_MAX, now)
    return jwt.encode(claims, key, algorithm=_PERSON_ALGORITHM, headers={"kid": person_id})


def check_name(what: str, name: str) -> None:
    """Raise TokenError for a name that nobody can have."""
    if not _NAME.fullmatch(name):
        raise TokenError(f"the {what} is 1 to 64 letters, digits, dots, dashes and underscores")
    if name == LEDGER_CLIENT:
        raise TokenError(f"{LEDGER_CLIENT} is the ledger itself: no token acts as it")


def _scope_names(scopes: str) -> list[str]:
    names = scopes.split()
    unknown = sorted(set(names) - set(SCOPES))
    if not names or unknown:
        raise TokenError(f"scopes are {', '.join(SCOPES)}; not {' '.join(unknown) or 'none'}")
    return names


def _claims(
    subject: str, scopes: list[str], ttl_seconds: int, ttl_seconds_max: int, now: int | None
) -> dict[str, Any]:
    if not 1 <= ttl_seconds <= ttl_seconds_max:
        raise TokenError(f"a token lives 1 to {ttl_seconds_max} seconds")
    issued = int(time.time()) if now is None else now
    return {"sub": subject, "scope": " ".join(scopes), "iat": issued, "exp": issued + ttl_seconds}


class Tokens:
    """Verifies tokens. What has been verified is remembered, by its hash, until it expires.

    `key` is the service's own. `people`: None takes no person's token.
    """

    def __init__(self, key: bytes, people: KnownPeople | None = None) -> None:
        self._key = key
        self._people = people
        self._verified: OrderedDict[bytes, Token] = OrderedDict()

    async def verify(self, authorization: bytes | None) -> Token:
        """Return the token of an Authorization header. Raises Problem unauthenticated, overloaded.

        Of a person's token it is asked each time whether the person still is one.
        """
        if authorization is None:
            raise unauthenticated("Send an access token: Authorization: Bearer …")
        if authorization[: len(_BEARER)].lower() != _BEARER or len(authorization) > TOKEN_BYTES_MAX:
            raise unauthenticated("The Authorization header is not Bearer and a token.")
        digest = hashlib.sha256(authorization[len(_BEARER) :]).digest()
        token = self._verified.get(digest)
        if token is None:
            token = await self._decode(authorization[len(_BEARER) :].strip())
            self._verified[digest] = token
            if len(self._verified) > VERIFIED_MAX:
                self._verified.popitem(last=False)
        elif token.expires_at + LEEWAY_SECONDS <= time.time():
            self._verified.pop(digest, None)
            raise unauthenticated("The access token has expired.")
        else:
            self._verified.move_to_end(digest)
            if token.person is not None:
                await self._person(token.person)
        return token

    async def _decode(self, encoded: bytes) -> Token:
        try:
            header = jwt.get_unverified_header(encoded)
        except (jwt.InvalidTokenError, ValueError):
            raise _not_ours() from None
        if header.get("alg") == _PERSON_ALGORITHM:
            return await self._persons(encoded, header.get("kid"))
        claims = _checked(encoded, self._key, _ALGORITHM, "client_id")
        client_id, actor = claims["client_id"], claims["sub"]
        names = (client_id, actor)
        if not all(isinstance(name, str) and _NAME.fullmatch(name) for name in names):
            raise _malformed()
        if LEDGER_CLIENT in names:
            raise unauthenticated("No token acts as the ledger itself.")
        return Token(client_id, actor, frozenset(claims["scope"].split()), int(claims["exp"]))

    async def _persons(self, encoded: bytes, person_id: Any) -> Token:
        """A token that the person named in its header has signed."""
        if not isinstance(person_id, str) or not _NAME.fullmatch(person_id):
            raise _malformed()
        person = await self._person(person_id)
        claims = _checked(encoded, _public_key(person), _PERSON_ALGORITHM)
        if claims["sub"] != person_id or int(claims["exp"]) - int(claims["iat"]) > PERSON_TTL_SECONDS_MAX:
            raise _malformed()
        scopes = frozenset(claims["scope"].split()).intersection(person.scopes)
        return Token(_PERSON_CLIENT + person_id, person_id, scopes, int(claims["exp"]), person_id)

    async def _person(self, person_id: str) -> Person:
        """The person, if they are one still; the same answer for whoever never was."""
        try:
            person = None if self._people is None else await self._people.find(person_id)
        except ReadingUnavailable:
            raise overloaded("Who you are cannot be looked up now; ask again.") from None
        if person is None or not person.active:
            raise _not_ours()
        return person


def _checked(encoded: bytes, key: bytes | Ed25519PublicKey, algorithm: str, *more: str) -> dict[str, Any]:
    """The claims of a token that holds; its scope is text. Raises Problem unauthenticated."""
    required = ["sub", "scope", "iat", "exp", *more]
    try:
        claims: dict[str, Any] = jwt.decode(
            encoded, key, algorithms=[algorithm], options={"require": required}, leeway=LEEWAY_SECONDS
        )
    except jwt.ExpiredSignatureError:
        raise unauthenticated("The access token has expired.") from None
    except (jwt.InvalidTokenError, ValueError, TypeError, OverflowError):  # the last two: odd times
        raise _not_ours() from None
    if not isinstance(claims["scope"], str):
        raise _malformed()
    return claims


def _public_key(person: Person) -> Ed25519PublicKey:
    return Ed25519PublicKey.from_public_bytes(urlsafe_b64decode(person.public_key + "="))


def _not_ours() -> Problem:
    return unauthenticated("The access token is not one of this service's.")


def _malformed() -> Problem:
    return unauthenticated("The access token's claims are not of this service's form.")
