"""Every way a request can fail, as RFC 9457 problem details: one table, one exception, one form.

A problem's `code` is stable for clients; its status and title follow from it. What the ledger decides against
is a problem too, told again in the same words whenever its command is repeated.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import orjson
from starlette.responses import Response

MEDIA_TYPE: Final = "application/problem+json"
RETRY_AFTER_SECONDS: Final = 1


class Kind(NamedTuple):
    """What is the same for every occurrence of a problem."""

    status: int
    title: str


_KINDS: Final = {
    400: {
        "idempotency_key_missing": "The request has no Idempotency-Key",
        "malformed_json": "The body is not JSON",
    },
    401: {"unauthenticated": "There is no valid access token"},
    403: {
        "scope_missing": "The access token does not allow this",
        "personal_subject_required": "Only a registered person may do this",
        "same_person": "Another person has to approve",
    },
    404: {
        "round_not_found": "There is no such round",
        "round_archived": "The round is archived",
        "player_not_found": "There is no such player",
        "table_not_found": "There is no such table",
        "jackpot_not_found": "There is no such jackpot",
        "ruleset_not_found": "There is no such rule set",
        "approval_not_found": "There is no such approval",
        "person_not_found": "There is no such person",
        "odds_not_counted": "Such odds are not counted",
        "entries_not_ready": "The events are not disclosed yet",
        "not_found": "There is nothing here",
    },
    405: {"method_not_allowed": "This cannot be asked with this method"},
    409: {
        "insufficient_funds": "The wallet does not hold enough",
        "wrong_phase": "The round is in another phase",
        "already_decided": "The seat has decided",
        "seat_taken": "The seat is taken",
        "round_open": "The table has an open round",
        "round_unfinished": "The round is not finished",
        "evidence_not_ready": "The log has not signed this yet",
        "odds_not_ready": "The odds are not computed yet",
        "table_closed": "The table is closed",
        "table_full": "The table is full",
        "jackpot_disabled": "The jackpot is disabled",
        "player_exists": "The player exists already",
        "table_exists": "The table exists already",
        "jackpot_exists": "The jackpot exists already",
        "jackpot_enabled": "The jackpot is enabled",
        "jackpot_unsettled": "Bets on the jackpot are not settled",
        "jackpot_retired": "The jackpot is retired",
        "reference_already_used": "The reference was used for another amount",
        "software_mismatch": "The software is not what was accepted",
        "account_class_mismatch": "Real and test money do not mix",
        "approval_closed": "The proposal is decided already",
        "approval_expired": "The proposal can be decided no longer",
        "approvals_full": "Too many proposals wait for approval",
        "person_exists": "The person, or the key, is registered already",
    },
    413: {"body_too_large": "The body is too large"},
    422: {
        "validation_failed": "The request is not valid",
        "ante_out_of_limits": "The ante is outside the table's limits",
        "amount_out_of_range": "The amount is out of range",
        "not_your_seat": "The seat may not do this now",
        "unknown_side_bet": "The table does not offer this side bet",
        "side_bet_stake": "The side bet takes another stake",
        "currency_mismatch": "The currencies do not match",
        "misdeal": "The cards cannot have been dealt like this",
        "idempotency_key_reused": "The Idempotency-Key was used for another request",
    },
    500: {"internal_error": "The service has failed"},
    503: {
        "overloaded": "The service cannot take the request now",
        "ledger_alarm": "Something is wrong with the ledger",
        "ledger_read_only": "The ledger can only be read now",
    },
}

KINDS: Final[Mapping[str, Kind]] = MappingProxyType(
    {code: Kind(status, title) for status, codes in _KINDS.items() for code, title in codes.items()}
)
"""Status and title by code."""


class Problem(Exception):
    """A request fails with `code`. `detail` is one sentence for a person, `extra` is JSON for a program."""

    def __init__(
        self, code: str, detail: str, *, headers: Mapping[str, str] | None = None, **extra: Any
    ) -> None:
        super().__init__(code, detail)
        self.code = code
        self.status = KINDS[code].status
        self.detail = detail
        self.extra = extra
        self.headers = dict(headers or {})

    def body(self) -> bytes:
        """The problem document (RFC 9457 section 3)."""
        return document(self.code, {"detail": self.detail, **self.extra})

    def response(self) -> Response:
        """The problem as an answer."""
        return Response(self.body(), self.status, self.headers, MEDIA_TYPE)


def document(code: str, members: Mapping[str, Any]) -> bytes:
    """The JSON of a problem: its own members, which must not be the standard's, and the standard's."""
    kind = KINDS[code]
    standard = {
        "type": f"urn:problem:stud-ledger:{code}",
        "title": kind.title,
        "status": kind.status,
        "code": code,
    }
    return orjson.dumps({**members, **standard})


def rejected(body: bytes) -> tuple[int, bytes]:
    """Status and document of what the ledger remembers of a rejected command."""
    members: dict[str, Any] = orjson.loads(body)
    code = members.pop("code")
    return KINDS[code].status, document(code, members)


def overloaded(detail: str) -> Problem:
    """The service is busy, or cannot reach its database: the same request may be sent again in a moment."""
    return Problem("overloaded", detail, headers={"Retry-After": str(RETRY_AFTER_SECONDS)})


def read_only(**extra: Any) -> Problem:
    """The ledger is not what its evidence log has signed: nothing of the request is remembered."""
    return Problem(
        "ledger_read_only",
        "The ledger differs from what its log has signed (GET /v1/log): it takes nothing that moves money "
        "until two people have started a new log (POST /v1/log/generations).",
        **extra,
    )


def unauthenticated(detail: str) -> Problem:
    """No token, or none that holds (RFC 6750 section 3)."""
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": 'Bearer realm="stud-ledger"'})


def scope_missing(scopes: Iterable[str]) -> Problem:
    """The token holds, but has none of the scopes that allow the request."""
    needed = sorted(scopes)
    challenge = f'Bearer realm="stud-ledger", error="insufficient_scope", scope="{" ".join(needed)}"'
    detail = f"This needs a token with the scope {' or '.join(needed)}."
    return Problem("scope_missing", detail, headers={"WWW-Authenticate": challenge}, scopes=needed)


def validation_failed(errors: list[dict[str, str]]) -> Problem:
    """A shape refused at the edge: each error names the place (a JSON pointer) and what belongs there."""
    return Problem("validation_failed", "The request is not valid: see errors.", errors=errors)
