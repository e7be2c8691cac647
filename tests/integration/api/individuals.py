"""People with keys of their own, for tests of what takes one."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from api.tokens import mint_person
from infrastructure.person_keys import public_text

if TYPE_CHECKING:
    from collections.abc import Callable

    import httpx
    from conftest import Api

_numbers = itertools.count(1)


@dataclass
class Individual:
    """Somebody with a private key, registered or not."""

    name: str
    scopes: tuple[str, ...] = ("admin",)
    key: Ed25519PrivateKey = field(default_factory=Ed25519PrivateKey.generate, repr=False)

    @property
    def body(self) -> dict[str, Any]:
        """What registers them."""
        return {"person_id": self.name, "public_key": public_text(self.key), "scopes": list(self.scopes)}

    def headers(self, scope: str | None = None) -> dict[str, str]:
        """Return the header of a token of theirs."""
        token = mint_person(self.key, self.name, scope or " ".join(self.scopes), ttl_seconds=600)
        return {"Authorization": f"Bearer {token}"}

    def post(
        self, api: Api, path: str, body: Any = None, *, key: str | None = None, scope: str | None = None
    ) -> httpx.Response:
        """Send a command."""
        headers = {**self.headers(scope), "Idempotency-Key": key or f"{self.name}-{next(_numbers)}"}
        return api.client.post(path, headers=headers, json={} if body is None else body)

    def get(self, api: Api, path: str) -> httpx.Response:
        """Read."""
        return api.client.get(path, headers=self.headers())

    def decides(self, api: Api, approval_id: str, decision: str = "approve", **more: Any) -> httpx.Response:
        """Approve or refuse."""
        return self.post(api, f"/v1/approvals/{approval_id}", {"decision": decision, **more})


def within_a_second(holds: Callable[[], bool]) -> bool:
    """Say whether something comes to hold within a second."""
    end = time.monotonic() + 1.0
    while not holds():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True
