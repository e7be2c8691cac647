"""Who may ask what: the scopes a route takes, for the documentation and for the check itself."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final

from fastapi import Request, Security
from fastapi.params import Security as SecurityParameter
from fastapi.security import HTTPBearer

from api.tokens import Token, Tokens

BEARER: Final = HTTPBearer(
    bearerFormat="JWT",
    scheme_name="token",
    description="`scripts/token --scope 'play cashier'` makes one. Any one of a route's scopes is enough. "
    "Approving takes a registered person's own: `scripts/token --person anna --key FILE --scope admin`.",
    auto_error=False,
)

PLAY: Final = frozenset(("play",))
CASHIER: Final = frozenset(("cashier",))
ADMIN: Final = frozenset(("admin",))
AUDIT: Final = frozenset(("audit",))
SEE_ROUNDS: Final = frozenset(("play", "reports", "audit", "disputes"))
SEE_PLAYERS: Final = frozenset(("play", "cashier", "reports", "audit", "disputes"))
SEE_TABLES: Final = frozenset(("play", "cashier", "admin", "reports", "audit", "disputes"))
APPROVE: Final = frozenset(("admin", "disputes:approve"))
"""What an action may ask of whoever approves it; which of them is the action's."""
SEE_APPROVALS: Final = frozenset(("admin", "disputes", "disputes:approve", "reports", "audit"))
SEE_PEOPLE: Final = frozenset(("admin", "audit"))
SEE_SOFTWARE: Final = frozenset(("admin", "reports", "audit"))
JOIN: Final = frozenset(("play", "admin"))


def scopes(needed: frozenset[str]) -> SecurityParameter:
    """The scopes of a route, any one of which is enough, as the documentation shows them."""
    return Security(BEARER, scopes=sorted(needed))  # type: ignore[no-any-return] # FastAPI says Any


def tokens_of(request: Request) -> Tokens:
    """The service's verifier."""
    tokens: Tokens = request.app.state.service.tokens
    return tokens


def reader(needed: frozenset[str]) -> Callable[[Request], Awaitable[Token]]:
    """A dependency that gives a read route its caller's token. Raises Problem unauthenticated, scope_missing.

    It is a coroutine function so that it runs on the event loop and not in a thread.
    """

    async def verified(request: Request) -> Token:
        authorization = request.headers.get("authorization")
        given = None if authorization is None else authorization.encode("latin-1")
        token = await tokens_of(request).verify(given)
        token.require(needed)
        return token

    return verified
