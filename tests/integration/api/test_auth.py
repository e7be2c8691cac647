"""Who may ask what: tokens and scopes."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import jwt
import pytest

from api.cli import token as token_cli
from api.tokens import Token, TokenError, Tokens, mint

if TYPE_CHECKING:
    from pathlib import Path

    from conftest import Api

KEY = b"k" * 32
CLAIMS = {"client_id": "operator", "sub": "operator", "scope": "play cashier", "iat": 1, "exp": 4_000_000_000}


def unauthenticated(api: Api, authorization: str | None) -> None:
    """Check that a request with this header is refused."""
    headers = {} if authorization is None else {"Authorization": authorization}
    response = api.client.get("/v1/tables", headers=headers)
    api.refused("unauthenticated", 401, response)
    assert response.headers["www-authenticate"].startswith("Bearer")
    api.refused("unauthenticated", 401, api.client.post("/v1/rounds", json={}, headers=headers))


def signed(key: bytes, **changes: Any) -> str:
    """Return a token with some claims changed; None takes one away."""
    claims = {name: value for name, value in {**CLAIMS, **changes}.items() if value is not None}
    return jwt.encode(claims, key, algorithm="HS256")


def verified(tokens: Tokens, header: bytes) -> Token:
    """Return the token of a header."""
    return asyncio.run(tokens.verify(header))


def test_no_token_and_no_bearer_is_unauthenticated(api: Api) -> None:
    """Without a bearer token nothing is told."""
    unauthenticated(api, None)
    unauthenticated(api, "Basic b3BlcmF0b3I6eA==")
    unauthenticated(api, "Bearer")
    unauthenticated(api, "Bearer nonsense")
    unauthenticated(api, "Bearer " + "x" * 5000)


def test_a_token_that_does_not_hold_is_unauthenticated(api: Api) -> None:
    """Another key, no signature, a missing claim, an odd name, the ledger's own name, an end in the past."""
    key = api.service.tokens._key
    assert api.client.get("/v1/tables", headers={"Authorization": f"Bearer {signed(key)}"}).status_code == 200
    unauthenticated(api, f"Bearer {signed(KEY)}")
    unauthenticated(api, f"Bearer {jwt.encode(CLAIMS, None, algorithm='none')}")
    with pytest.warns(jwt.InsecureKeyLengthWarning):
        other = jwt.encode(CLAIMS, key, algorithm="HS512")
    unauthenticated(api, f"Bearer {other}")
    for claim in CLAIMS:
        unauthenticated(api, f"Bearer {signed(key, **{claim: None})}")
    unauthenticated(api, f"Bearer {signed(key, client_id='ledger')}")
    unauthenticated(api, f"Bearer {signed(key, sub='ledger')}")
    unauthenticated(api, f"Bearer {signed(key, client_id='a b')}")
    unauthenticated(api, f"Bearer {signed(key, client_id=7)}")
    unauthenticated(api, f"Bearer {signed(key, scope=['play'])}")
    unauthenticated(api, f"Bearer {signed(key, exp=int(time.time()) - 60)}")


def test_a_token_is_not_trusted_beyond_its_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was verified is remembered only until it expires."""
    tokens = Tokens(KEY)
    header = b"Bearer " + mint(KEY, "play", client_id="a", actor="b", ttl_seconds=60).encode()
    assert verified(tokens, header) is verified(tokens, header)
    later = time.time() + 120
    monkeypatch.setattr(time, "time", lambda: later)
    with pytest.raises(Exception, match="expired"):
        verified(tokens, header)


def test_the_tokens_that_are_remembered_are_bounded() -> None:
    """Many tokens do not fill the memory."""
    tokens = Tokens(KEY)
    for number in range(1100):
        minted = mint(KEY, "play", client_id=f"c{number}", actor="b", ttl_seconds=60)
        verified(tokens, b"Bearer " + minted.encode())
    assert len(tokens._verified) == 1024


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/v1/players", {"cashier"}),
        ("POST", "/v1/players/x/deposits", {"cashier"}),
        ("POST", "/v1/players/x/withdrawals", {"cashier"}),
        ("POST", "/v1/jackpots", {"admin"}),
        ("POST", "/v1/people", {"admin"}),
        ("POST", "/v1/people/x/revoke", {"admin"}),
        ("POST", "/v1/tables", {"admin"}),
        ("POST", "/v1/tables/x/open", {"admin"}),
        ("POST", "/v1/tables/x/close", {"admin"}),
        ("POST", "/v1/tables/x/ruleset", {"admin"}),
        ("POST", "/v1/tables/x/join", {"admin", "play"}),
        ("POST", "/v1/tables/x/leave", {"admin", "play"}),
        ("POST", "/v1/rounds", {"play"}),
        ("POST", "/v1/rounds/x/antes", {"play"}),
        ("POST", "/v1/rounds/x/deal", {"play"}),
        ("POST", "/v1/rounds/x/decisions", {"play"}),
        ("POST", "/v1/rounds/x/reveal", {"play"}),
        ("POST", "/v1/rounds/x/void", {"admin"}),
        ("GET", "/v1/rounds/x", {"play", "reports", "audit", "disputes"}),
        ("GET", "/v1/rounds/x/events", {"play", "reports", "audit", "disputes"}),
        ("GET", "/v1/rounds/x/replay", {"play", "reports", "audit", "disputes"}),
        ("GET", "/v1/rounds/x/evidence", {"play", "reports", "audit", "disputes"}),
        ("GET", "/log/tile/entries/000", {"audit"}),
        ("GET", "/v1/players/x", {"play", "cashier", "reports", "audit", "disputes"}),
        ("GET", "/v1/players/x/rounds", {"play", "cashier", "reports", "audit", "disputes"}),
        ("GET", "/v1/people", {"admin", "audit"}),
        ("GET", "/v1/approvals", {"admin", "reports", "audit", "disputes", "disputes:approve"}),
        ("GET", "/v1/approvals/x", {"admin", "reports", "audit", "disputes", "disputes:approve"}),
        ("GET", "/v1/tables", {"play", "cashier", "admin", "reports", "audit", "disputes"}),
        ("GET", "/v1/jackpots/x/meter", {"play", "cashier", "admin", "reports", "audit", "disputes"}),
    ],
)
def test_a_route_takes_its_scopes_and_no_others(api: Api, method: str, path: str, allowed: set[str]) -> None:
    """Each of a route's scopes opens it, no other does, and the problem names what is missing."""
    for scope in ("play", "cashier", "admin", "reports", "audit", "disputes", "disputes:approve"):
        response = api.post(path, scope=scope) if method == "POST" else api.get(path, scope=scope)
        if scope in allowed:
            assert response.status_code in (200, 404, 422), response.text
        else:
            assert api.refused("scope_missing", 403, response)["scopes"] == sorted(allowed)
            assert 'error="insufficient_scope"' in response.headers["www-authenticate"]


def test_some_doors_are_open_to_all(api: Api) -> None:
    """Health, readiness and documentation need no token."""
    for path in ("/healthz", "/readyz", "/docs", "/openapi.json"):
        assert api.client.get(path).status_code == 200


@pytest.mark.parametrize(
    "arguments",
    [
        {"scopes": ""},
        {"scopes": "play everything"},
        {"client_id": "ledger"},
        {"actor": "ledger"},
        {"client_id": "a b"},
        {"actor": "x" * 65},
        {"ttl_seconds": 0},
        {"ttl_seconds": 10**9},
    ],
)
def test_a_token_that_no_service_would_take_is_not_made(arguments: dict[str, Any]) -> None:
    """Unknown scopes, odd names, the ledger's own name and odd lives are refused."""
    good: dict[str, Any] = {"scopes": "play", "client_id": "operator", "actor": "operator", "ttl_seconds": 60}
    with pytest.raises(TokenError):
        mint(KEY, **{**good, **arguments})


def test_the_command_line_prints_a_token_as_its_last_word(
    api: Api, capsys: pytest.CaptureFixture[str]
) -> None:
    """`scripts/token` makes a token that the service takes."""
    keys = str(api.service.settings.keys)
    assert token_cli.main(["--scope", "audit", "--client", "auditor", "--keys", keys]) == 0
    token = capsys.readouterr().out.split()[-1]
    assert api.client.get("/v1/tables", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_the_command_line_says_what_is_wrong(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], api: Api
) -> None:
    """Without a key, or with an unknown scope, there is one line and no token."""
    assert token_cli.main(["--scope", "play", "--keys", str(tmp_path)]) == 1
    assert token_cli.main(["--scope", "fly", "--keys", str(api.service.settings.keys)]) == 1
    shown = capsys.readouterr()
    assert shown.out == ""
    assert len(shown.err.splitlines()) == 2
