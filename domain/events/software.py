"""What is known of the software that writes the ledger."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Occasion = Literal["start", "daily", "demand"]
Accepted = Literal["baseline", "new_build", "demo", "approval"]


@dataclass(frozen=True, slots=True)
class SoftwareVerified:
    """The software was looked at (GLI-19 2.3.2: at least every 24 hours).

    `code`, `rulesets`, `lock` and `postgres` are SHA-256 in hex: of the program's files, of the rule sets
    that come with it, of the list of packages it runs with, and of the database server's binaries (absent
    where the server is another's). `matches`: they are those that were accepted for this `build`. Where they
    are not, `accepted` says why they are from now on: they are the first (`baseline`), those of a build that
    started for the first time, the ledger is a demonstration that was started again, or two people said so.
    Without it no new round opens.
    """

    build: str
    code: str
    rulesets: str
    lock: str
    occasion: Occasion
    matches: bool
    postgres: str | None = None
    accepted: Accepted | None = None
    proposed_by: str | None = None
    approved_by: str | None = None
    approval_id: str | None = None
    note_sha256: str | None = None
