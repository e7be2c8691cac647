"""Why the ledger says no.

A rejection changes nothing; its code is stable for clients (the HTTP contract lists them) and is remembered
with the command, so that a repeat gets the same answer.
"""

from __future__ import annotations

from typing import Any, Final, Literal, get_args

Code = Literal[
    "round_not_found",
    "player_not_found",
    "table_not_found",
    "jackpot_not_found",
    "ruleset_not_found",
    "insufficient_funds",
    "wrong_phase",
    "already_decided",
    "seat_taken",
    "round_open",
    "round_unfinished",
    "table_closed",
    "table_full",
    "jackpot_disabled",
    "player_exists",
    "table_exists",
    "jackpot_exists",
    "jackpot_enabled",
    "jackpot_unsettled",
    "jackpot_retired",
    "reference_already_used",
    "account_class_mismatch",
    "validation_failed",
    "ante_out_of_limits",
    "amount_out_of_range",
    "not_your_seat",
    "unknown_side_bet",
    "side_bet_stake",
    "currency_mismatch",
    "misdeal",
    "scope_missing",
    "personal_subject_required",
    "same_person",
    "approval_not_found",
    "approval_closed",
    "approval_expired",
    "approvals_full",
    "person_exists",
    "person_not_found",
    "software_mismatch",
]
"""The codes that deciding a command can end in."""

CODES: Final[frozenset[str]] = frozenset(get_args(Code))


class Rejection(Exception):
    """A command is refused. `detail` is one sentence for a person; `extra` is JSON for a program."""

    def __init__(self, code: Code, detail: str, **extra: Any) -> None:
        super().__init__(code, detail)
        self.code: Code = code
        self.detail = detail
        self.extra = extra
