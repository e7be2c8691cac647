"""Who may see how the service is doing: this machine itself, or an administrator."""

from __future__ import annotations

import ipaddress
from typing import Final

from fastapi import Request

from api.auth import ADMIN, tokens_of
from api.problems import Problem

_FORWARDED: Final = (
    "forwarded",
    "x-forwarded-",
    "x-real-ip",
    "via",
    "x-client-ip",
    "true-client-ip",
    "cf-connecting-ip",
)
"""How the headers begin that proxies add."""


def is_near(request: Request) -> bool:
    """Whether the request comes from this machine, and for nobody else.

    The peer of the connection says so, never a header; and a proxy on this machine, which is a near peer
    itself, says by its headers that it asks for somebody who is not.
    """
    if request.client is None or any(name.startswith(_FORWARDED) for name in request.headers):
        return False
    try:
        return ipaddress.ip_address(request.client.host).is_loopback
    except ValueError:
        return False


async def require_near_or_admin(request: Request) -> None:
    """Raise Problem unauthenticated or scope_missing for who is neither near nor an administrator."""
    if not is_near(request):
        authorization = request.headers.get("authorization")
        header = None if authorization is None else authorization.encode("latin-1")
        (await tokens_of(request).verify(header)).require(ADMIN)


async def may_see_inside(request: Request) -> bool:
    """The same as an answer."""
    try:
        await require_near_or_admin(request)
    except Problem:
        return False
    return True
