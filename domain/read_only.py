"""What a ledger still takes while it is not what its evidence log has signed: nothing that could move money.

A hand that is under way, a deposit, a jackpot: none of them may go on a ledger that lacks events which others
hold proofs of. People, proposals and what is recorded of audits may; approving is for what does not move
money itself, most of all for the new log that ends this.
"""

from __future__ import annotations

from typing import Final

from domain import commands as c
from domain.evidence_log import GENERATION, KEY
from domain.people import REGISTRATION, REVOCATION
from domain.software import ACCEPTANCE
from domain.work import Work

_ALWAYS: Final = frozenset(
    (
        c.StartLedger,
        c.PublishRuleset,
        c.Propose,
        c.Refuse,
        c.RegisterPerson,
        c.RevokePerson,
        c.VerifySoftware,
        c.StartLog,
        c.HaltLog,
        c.StartAudit,
        c.FinishAudit,
        c.RecordArchive,
    )
)
_APPROVED: Final = frozenset((GENERATION, KEY, REGISTRATION, REVOCATION, ACCEPTANCE))


def is_refused(command: c.Command, work: Work) -> bool:
    """Whether a command has to wait until a new log is started."""
    if work.log.halted is None or type(command) in _ALWAYS:
        return False
    if isinstance(command, c.Approve):
        approval = work.approvals.get(command.approval_id)
        return approval is not None and approval.kind not in _APPROVED
    return True
