"""A person's token holds with the person's own key only, while and for what they are registered."""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import json
import time
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Sequence
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

from api.people import known
from api.people.bodies import _WEAK_Y, PersonBody, Scope, strong_key
from api.people.known import KnownPeople
from api.problems import Problem
from api.tokens import SCOPES, Token, TokenError, Tokens, mint, mint_person
from domain.registers import Person
from infrastructure.person_keys import public_text
from infrastructure.reading import ReadingUnavailable

SERVICE_KEY = b"k" * 32
ANNA = Ed25519PrivateKey.from_private_bytes(b"a" * 32)
BEN = Ed25519PrivateKey.from_private_bytes(b"b" * 32)
CLAIMS = {"sub": "anna", "scope": "admin", "iat": int(time.time()), "exp": int(time.time()) + 3000}


class Register:
    """The registered people, and how often they were read. `fails`: the database is away."""

    def __init__(self) -> None:
        self.people = {
            "anna": Person("anna", public_text(ANNA), ["admin", "disputes:approve"]),
            "ben": Person("ben", public_text(BEN), ["audit"]),
        }
        self.read: list[int] = []
        self.fails = False

    async def changed(self, after: int) -> Sequence[tuple[int, Person]]:
        """Return who changed; everybody is at position 7."""
        self.read.append(after)
        await asyncio.sleep(0)
        if self.fails:
            raise ReadingUnavailable
        return [(7, person) for person in self.people.values()]


@pytest.fixture
def register() -> Register:
    """Return a register with two people."""
    return Register()


@pytest.fixture
def tokens(register: Register) -> Tokens:
    """Return what verifies tokens."""
    return Tokens(SERVICE_KEY, KnownPeople(register.changed))


def verified(tokens: Tokens, encoded: str | bytes) -> Token:
    """Return a token."""
    text = encoded if isinstance(encoded, bytes) else encoded.encode()
    return asyncio.run(tokens.verify(b"Bearer " + text))


def refused(tokens: Tokens, encoded: str | bytes, code: str = "unauthenticated") -> str:
    """Check that a token does not hold; return what is said of it."""
    with pytest.raises(Problem) as caught:
        verified(tokens, encoded)
    assert caught.value.code == code
    return caught.value.detail


def signed(key: Ed25519PrivateKey = ANNA, kid: Any = "anna", **claims: Any) -> str:
    """Return a token of somebody who writes what they like into it; None takes a claim away."""
    told = {name: value for name, value in {**CLAIMS, **claims}.items() if value is not None}
    return jwt.encode(told, key, algorithm="EdDSA", headers={"kid": kid} if kid is not None else {})


def by_hand(header: dict[str, Any], signature: bytes | None = None, key: bytes = b"") -> bytes:
    """Return a token put together by hand, as no library would; signed with HMAC where not given."""
    parts = [urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=") for part in (header, CLAIMS)]
    told = b".".join(parts)
    made = hmac.digest(key, told, "sha256") if signature is None else signature
    return told + b"." + urlsafe_b64encode(made).rstrip(b"=")


# ── What holds ──────────────────────────────────────────────────────────────────────────────────────────────
def test_a_persons_token_says_who_it_is(tokens: Tokens) -> None:
    """The actor and the person are the one who signed, and their idempotency keys are nobody else's."""
    token = verified(tokens, mint_person(ANNA, "anna", "admin", ttl_seconds=60))
    assert token._replace(expires_at=0) == Token("person:anna", "anna", frozenset({"admin"}), 0, "anna")
    assert token.expires_at == pytest.approx(time.time() + 60, abs=5)
    with pytest.raises(TokenError):
        mint(SERVICE_KEY, "admin", client_id="person:anna", actor="anna", ttl_seconds=60)


def test_a_service_token_of_a_persons_name_is_no_person(tokens: Tokens) -> None:
    """Whatever it is called, it is the service's."""
    token = verified(tokens, mint(SERVICE_KEY, "admin", client_id="anna", actor="anna", ttl_seconds=60))
    assert (token.actor, token.person) == ("anna", None)


def test_a_token_allows_what_it_names_and_the_person_was_registered_for(tokens: Tokens) -> None:
    """Neither what only the token claims, nor what the person could have asked for and did not."""
    assert verified(tokens, signed(scope="admin audit play")).scopes == {"admin"}
    assert verified(tokens, signed(scope="play cashier")).scopes == set()


# ── What does not ───────────────────────────────────────────────────────────────────────────────────────────
def test_only_the_persons_own_key_signs_for_them(tokens: Tokens) -> None:
    """Another's key, under one's own name or that of the other, or no registered name, is refused alike."""
    said = {
        refused(tokens, signed(BEN)),
        refused(tokens, signed(ANNA, kid="ben", sub="ben")),
        refused(tokens, signed(ANNA, kid="nobody", sub="nobody")),
        refused(tokens, signed(Ed25519PrivateKey.generate())),
    }
    assert len(said) == 1


def test_the_header_and_the_subject_name_the_same_person(tokens: Tokens) -> None:
    """A token that ben has signed and that says anna, or the other way round, is nobody's."""
    refused(tokens, signed(BEN, kid="ben", sub="anna"))
    refused(tokens, signed(ANNA, kid="anna", sub="ben"))


@pytest.mark.parametrize("kid", [None, "", "a b", "x" * 65, "../anna", "anna\n"])
def test_the_header_has_to_name_somebody(tokens: Tokens, register: Register, kid: str | None) -> None:
    """What can be no id is not even looked up."""
    refused(tokens, signed(kid=kid))
    assert not register.read


def test_a_public_key_is_no_secret(tokens: Tokens) -> None:
    """HS256 under the person's public key, raw, as text, as PEM or as DER, or under nothing, is refused."""
    public = ANNA.public_key()
    raw = public.public_bytes_raw()
    spki = PublicFormat.SubjectPublicKeyInfo
    secrets = [
        raw,
        public_text(ANNA).encode(),
        public.public_bytes(Encoding.PEM, spki),
        public.public_bytes(Encoding.DER, spki),
        b"",
    ]
    for secret in secrets:
        for algorithm in ("HS256", "EdDSA", "hs256", "Ed25519", "none"):
            refused(tokens, by_hand({"alg": algorithm, "typ": "JWT", "kid": "anna"}, key=secret))


@pytest.mark.parametrize("algorithm", ["none", "None", "NONE", "", "EdDSA", "HS256", "RS256", "ES256"])
def test_a_token_without_a_signature_is_refused(tokens: Tokens, algorithm: str) -> None:
    """Whatever algorithm it names."""
    refused(tokens, by_hand({"alg": algorithm, "kid": "anna"}, signature=b""))


def test_the_services_key_signs_for_nobody(tokens: Tokens) -> None:
    """HMAC under the service's own key is a service token, and no person's by naming one in the header."""
    made = mint(SERVICE_KEY, "admin", client_id="operator", actor="anna", ttl_seconds=60)
    claims = jwt.decode(made, options={"verify_signature": False})
    named = jwt.encode(claims, SERVICE_KEY, algorithm="HS256", headers={"kid": "anna"})
    assert verified(tokens, named).person is None
    refused(tokens, by_hand({"alg": "EdDSA", "kid": "anna"}, key=SERVICE_KEY))


def test_a_changed_token_is_refused(tokens: Tokens) -> None:
    """One bit of the claims or of the signature, or a header that wants more than this service knows."""
    encoded = signed().encode()
    header, claims, signature = encoded.split(b".")
    other = signed(scope="admin audit").encode().split(b".")[1]
    refused(tokens, b".".join((header, other, signature)))
    flipped = bytearray(urlsafe_b64decode(signature + b"=="))
    flipped[5] ^= 1
    refused(tokens, b".".join((header, claims, urlsafe_b64encode(flipped).rstrip(b"="))))
    critical = jwt.encode(CLAIMS, ANNA, algorithm="EdDSA", headers={"kid": "anna", "crit": ["b65"], "b65": 1})
    refused(tokens, critical)


@pytest.mark.parametrize(
    "claims",
    [
        {"exp": int(time.time()) - 60},
        {"exp": None},
        {"iat": None},
        {"sub": None},
        {"scope": None},
        {"scope": ["admin"]},
        {"iat": int(time.time()) + 600},
        {"exp": int(time.time()) + 25 * 3600},
        {"iat": int(time.time()) - 30 * 24 * 3600},
        {"exp": "soon"},
        {"exp": float("inf")},
        {"iat": float("nan")},
        {"exp": [1]},
    ],
)
def test_a_persons_token_lives_a_day_at_most(tokens: Tokens, claims: dict[str, Any]) -> None:
    """People make their own: one with an odd, a missing or a distant end is refused, not believed."""
    refused(tokens, signed(**claims))


def test_without_people_no_persons_token_is_taken() -> None:
    """A verifier that has nobody to ask knows nobody."""
    refused(Tokens(SERVICE_KEY), signed())


# ── While they are ──────────────────────────────────────────────────────────────────────────────────────────
def test_a_revocation_is_seen_though_the_token_was_verified_before(
    tokens: Tokens, register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Within half a second: what is remembered of a token does not outlive the person's registration."""
    encoded = signed()
    clock = time.monotonic()
    monkeypatch.setattr(known.time, "monotonic", lambda: clock)  # type: ignore[attr-defined]
    verified(tokens, encoded)
    register.people["anna"].active = False
    register.people = {name: Person(**_fields(person)) for name, person in register.people.items()}
    clock += known.FRESH_SECONDS + 0.01
    refused(tokens, encoded)


def _fields(person: Person) -> dict[str, Any]:
    return {name: getattr(person, name) for name in Person.__slots__}


def test_an_expired_token_is_refused_though_it_was_verified_before(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is remembered of a token ends with it."""
    encoded = signed()
    verified(tokens, encoded)
    later = time.time() + 4000
    monkeypatch.setattr(time, "time", lambda: later)
    assert "expired" in refused(tokens, encoded)


def test_people_are_read_when_somebody_asks_and_what_is_known_is_old(
    register: Register, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Many who ask at once make one reading, as do many strangers; each reading goes on from the last."""
    clock = 1000.0
    monkeypatch.setattr(known.time, "monotonic", lambda: clock)  # type: ignore[attr-defined]
    people = KnownPeople(register.changed)

    async def ask(*names: str) -> list[Person | None]:
        return list(await asyncio.gather(*map(people.find, names)))

    assert [p and p.person_id for p in asyncio.run(ask("anna", "ben", "nobody"))] == ["anna", "ben", None]
    assert register.read == [0]
    asyncio.run(ask("anna", *["nobody"] * 50))
    assert register.read == [0]
    clock += known.ASKED_AGAIN_SECONDS * 1.1
    asyncio.run(ask("anna"))
    assert register.read == [0]
    asyncio.run(ask("nobody"))
    assert register.read == [0, 7]
    clock += known.FRESH_SECONDS * 1.1
    asyncio.run(ask("anna", "anna"))
    assert register.read == [0, 7, 7]


def test_nobody_is_believed_while_the_database_is_away(tokens: Tokens, register: Register) -> None:
    """A person's token then asks to come back; a service's goes on; afterwards all is as before."""
    register.fails = True
    refused(tokens, signed(), "overloaded")
    assert verified(tokens, mint(SERVICE_KEY, "play", client_id="a", actor="a", ttl_seconds=60))
    register.fails = False
    assert verified(tokens, signed()).person == "anna"


# ── Making them ─────────────────────────────────────────────────────────────────────────────────────────────
@pytest.mark.parametrize(
    "arguments",
    [
        {"person_id": "a b"},
        {"person_id": "ledger"},
        {"scopes": "fly"},
        {"scopes": ""},
        {"ttl_seconds": 86_401},
    ],
)
def test_a_token_that_no_service_would_take_is_not_made(arguments: dict[str, Any]) -> None:
    """Odd names, the ledger's own, unknown scopes and long lives are refused."""
    good: dict[str, Any] = {"person_id": "anna", "scopes": "admin", "ttl_seconds": 60}
    with pytest.raises(TokenError):
        mint_person(ANNA, **{**good, **arguments})


def test_the_scopes_people_can_have_are_those_of_tokens() -> None:
    """What the body of a registration takes and what tokens can name is one list."""
    assert Scope.__args__ == SCOPES  # type: ignore[attr-defined]


# ── Keys under which a signature proves nothing ─────────────────────────────────────────────────────────────
def _times_eight(number: int) -> tuple[int, int]:
    """Eight times the point (RFC 8032 section 5.1) whose y is `number`; its affine coordinates."""
    p = 2**255 - 19
    d = -121_665 * pow(121_666, -1, p) % p
    square = (number * number - 1) * pow(d * number * number + 1, -1, p) % p
    x, y = pow(square, (p + 3) // 8, p), number
    if (x * x - square) % p:
        x = x * pow(2, (p - 1) // 4, p) % p
    assert (x * x - square) % p == 0, "not on the curve"
    for _ in range(3):
        cross = d * x * x * y * y
        x, y = 2 * x * y * pow(1 + cross, -1, p) % p, (y * y + x * x) * pow(1 - cross, -1, p) % p
    return x, y


def test_the_weak_keys_are_the_points_of_small_order() -> None:
    """Eight times each of them is the neutral point, there are five, and none is taken."""
    assert {_times_eight(number) for number in _WEAK_Y} == {(0, 1)}
    assert len(_WEAK_Y) == 5
    for number in (*_WEAK_Y, 2**255 - 19, 2**255 - 18):
        for sign in (0, 1):
            raw = (number | sign << 255).to_bytes(32, "little")
            with pytest.raises(ValueError, match="small order"):
                strong_key(urlsafe_b64encode(raw).decode().rstrip("="))


def test_an_honest_key_is_taken_in_its_one_spelling() -> None:
    """43 characters of base64url; the same bytes written otherwise are not of the form."""
    text = public_text(ANNA)
    body = {"person_id": "anna", "public_key": text, "scopes": ["admin"]}
    assert PersonBody.model_validate(body).public_key == text
    raw = urlsafe_b64decode(text + "=")
    other = text[:-1] + chr(ord(text[-1]) + 1)
    assert urlsafe_b64decode(other + "=") == raw
    for wrong in (other, text + "=", text[:-1], raw.hex(), hashlib.sha256(raw).hexdigest()):
        with pytest.raises(ValueError, match="pattern"):
            PersonBody.model_validate({**body, "public_key": wrong})
