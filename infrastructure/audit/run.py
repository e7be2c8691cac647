"""An audit from its beginning to its report: partitions given out, their results put together, all told.

Who does the work is given (`Execute`): processes of this machine, or other machines. The report is the same
whoever does it and however the events are cut.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import chain, islice
from pathlib import Path
from typing import Final

from infrastructure.audit import database, log_files, signed
from infrastructure.audit.log_files import LogFiles
from infrastructure.audit.merging import Merger
from infrastructure.audit.pool import NICENESS, Beside, Pool
from infrastructure.audit.report import Check, Report, Scope, Totals, result_of
from infrastructure.audit.results import FINDINGS_MAX, Context, Finding, Opening, Outcome
from infrastructure.audit.signed import Claim
from infrastructure.audit.source import Part, Source
from infrastructure.audit.work import Done, Work

Execute = Callable[[Work, Iterable[Part]], Iterator[Done]]
"""Does the work on all parts and yields what it comes to, in their order."""
Progress = Callable[[int, int], None]
"""Told how far it has come, and how far it is to go."""


class NothingToAuditError(RuntimeError):
    """There is no event in what was asked for: one line that says so."""


class BesideResult(list[Finding]):
    """The findings of something that is checked beside the events."""


@dataclass(frozen=True, slots=True)
class Aside:
    """Something that is checked in a process of its own meanwhile.

    `work` is given `task` and a function that takes the position it has come to; it returns what it found and
    how much it looked at.
    """

    check: str
    unit: str
    work: Callable[..., tuple[list[Finding], int]]
    task: object


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be audited: the positions behind `after` up to `up_to`.

    `claims` are checkpoints the events have to agree with, `claim_findings` what is wrong with those
    themselves; `files` are a log's. `asides` are checked as well, `not_checked` says why something is not.
    `log` is what the report says of the log. `found` was found before the audit began. `there` is how many
    events there were when the claims were read (0: as many as are audited).
    """

    run_id: str
    after: int
    up_to: int
    software: str
    claims: Sequence[Claim] = ()
    files: LogFiles | None = None
    asides: Sequence[Aside] = ()
    not_checked: Sequence[Check] = ()
    found: Sequence[Finding] = ()
    log: dict[str, object] = field(default_factory=dict)
    there: int = 0


@dataclass(slots=True)
class _Compared:
    tiles: int = 0
    bundles: int = 0
    findings: list[Finding] = field(default_factory=list)


def in_processes(processes: int | None = None, *, niceness: int = NICENESS) -> Execute:
    """Have the work done by processes of this machine, as many as it has processors if nothing is said."""

    def execute(work: Work, parts: Iterable[Part]) -> Iterator[Done]:
        remaining = iter(parts)
        first = [*islice(remaining, 2)]
        if len(first) < 2:  # noqa: PLR2004 - to start a process takes longer than so little work
            yield from here(work, first)
            return
        with Pool[Part, Done](work.__call__, processes, niceness=niceness) as pool:
            yield from pool.map(chain(first, remaining))

    return execute


def here(work: Work, parts: Iterable[Part]) -> Iterator[Done]:
    """Do the work in this process, part by part."""
    try:
        yield from map(work.__call__, parts)
    finally:
        database.let_go()


def audit(source: Source, wanted: Wanted, execute: Execute, progress: Progress) -> Report:
    """Audit. Raises NothingToAuditError, WorkFailed, WorkerDied, and what reading the source raises."""
    if wanted.up_to <= wanted.after:
        raise NothingToAuditError("there are no events in what is to be audited")
    began, made_at = time.monotonic(), datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    sizes = tuple(sorted({each.checkpoint.size for each in wanted.claims}))
    context = Context(source.rulesets(), sizes)
    compared = _Compared()
    with ExitStack() as stack:
        asides = [(each, Beside(each.work, each.task)) for each in wanted.asides]
        for _, process in asides:
            stack.callback(process.close)
        told = _Telling(wanted, [process for _, process in asides], progress)
        opening = source.opening(wanted.after)
        merger = stack.enter_context(Merger(context, opening))
        for done in execute(Work(context, wanted.files), source.parts(wanted.after, wanted.up_to)):
            merger.add(done.result)
            if done.compared is not None:
                compared.tiles += done.compared.tiles
                compared.bundles += done.compared.bundles
                compared.findings += done.compared.findings
            told.come_to(done.up_to)
        outcome = merger.finish()
        beside = [(each, *told.wait_for(process)) for each, process in asides]
    findings = [*wanted.found, *outcome.findings, *_ends(wanted, outcome), *compared.findings]
    findings += _log(wanted, outcome)
    for _, found, _ in beside:
        findings += found
    findings.sort()
    return Report(
        run_id=wanted.run_id,
        scope=Scope(source.kind, wanted.after + 1, wanted.up_to, outcome.began, outcome.ended),
        totals=Totals(
            outcome.events,
            sum(figures.rounds for figures in outcome.figures.values()),
            len(outcome.open_rounds),
            outcome.wallets,
            outcome.figures,
            outcome.accounts,
            outcome.pots,
        ),
        checks=[
            *_checks(wanted, opening, outcome, compared, findings),
            *(
                Check(each.check, "fail" if found else "pass", count, each.unit)
                for each, found, count in beside
            ),
            *wanted.not_checked,
        ],
        exceptions=findings[:FINDINGS_MAX],
        found=len(findings) + outcome.found - len(outcome.findings),
        made_at=made_at,
        seconds=time.monotonic() - began,
        software=wanted.software,
        log=wanted.log,
    )


class _Telling:
    """How far the audit has come: the events, and as many again for each of what goes on beside them."""

    _POLL_SECONDS: Final = 0.2

    def __init__(
        self,
        wanted: Wanted,
        asides: Sequence[Beside[object, tuple[list[Finding], int]]],
        progress: Progress,
    ) -> None:
        self._after = wanted.after
        self._events = wanted.up_to - wanted.after
        self._asides = asides
        self._progress = progress
        self._done = 0

    def come_to(self, position: int) -> None:
        """Tell that the events up to a position are audited."""
        self._done = position - self._after
        self._tell()

    def wait_for(self, process: Beside[object, tuple[list[Finding], int]]) -> tuple[list[Finding], int]:
        """Wait for one of the others, and tell how far it comes meanwhile."""
        while not process.ended:
            self._tell()
            time.sleep(self._POLL_SECONDS)
        self._tell()
        return process.result()

    def _tell(self) -> None:
        parts = [self._done]
        parts += [self._events if each.ended else min(each.done, self._events) for each in self._asides]
        self._progress(sum(parts), self._events * len(parts))


def _ends(wanted: Wanted, outcome: Outcome) -> list[Finding]:
    """Find events that are missing at the end of what was asked for: the merging sees the other gaps."""
    if outcome.last >= wanted.up_to:
        return []
    missing = max(outcome.last, wanted.after) + 1
    return [Finding(missing, "position", f"events up to {wanted.up_to}", f"none from {missing} on")]


def _log(wanted: Wanted, outcome: Outcome) -> list[Finding]:
    findings = []
    if not wanted.after or outcome.roots:
        for claim in wanted.claims:
            span = outcome.last, max(wanted.there, outcome.last)
            findings += signed.compare_root(claim, span, outcome.roots, _folder(wanted))
    if wanted.files is not None:
        findings += log_files.compare_levels(wanted.files)
    return findings


def _folder(wanted: Wanted) -> Path | None:
    return None if wanted.files is None else wanted.files.folder


def _checks(
    wanted: Wanted,
    opening: Opening | None,
    outcome: Outcome,
    compared: _Compared,
    findings: Sequence[Finding],
) -> Iterator[Check]:
    rounds = sum(figures.rounds for figures in outcome.figures.values())
    yield Check(
        "events",
        result_of(findings, "position", "place", "canonical", "readable", "recorded_at", "version", "type"),
        outcome.events,
        "events",
        "canonical bytes, no gap in positions, in time or in any stream's versions",
    )
    notes = (
        [f"{len(outcome.open_rounds)} rounds are open: derived as far as they have come"]
        if outcome.open_rounds
        else []
    )
    if outcome.unchecked_rounds:
        notes.append(f"{outcome.unchecked_rounds} rounds began before the first event and were not derived")
    yield Check(
        "rounds", result_of(findings, "replay", "round", "ruleset"), rounds, "rounds", "; ".join(notes)
    )
    begin = _begin(opening)
    if outcome.unopened_wallets:
        begin += f"; {outcome.unopened_wallets} with the balance that their first event here tells"
    yield Check(
        "wallets",
        result_of(findings, "balance_after", "wallet", "trial_balance"),
        outcome.wallets,
        "wallets",
        begin,
    )
    yield Check("jackpots", result_of(findings, "jackpot"), len(outcome.pots), "jackpots", _begin(opening))
    yield from _log_checks(wanted, outcome, compared, findings)


def _begin(opening: Opening | None) -> str:
    """What wallets and jackpots are followed from."""
    if opening is None:
        return "from zero"
    if opening.wallets is None:
        return "nothing was recorded of the time before: from what the events here tell"
    return "from what was recorded of the time before"


def _log_checks(
    wanted: Wanted, outcome: Outcome, compared: _Compared, findings: Sequence[Finding]
) -> Iterator[Check]:
    if wanted.after and wanted.claims and not outcome.roots:
        yield Check(
            "log_root", "not_checked", note="the root is of all events, and the first are not in this audit"
        )
    elif wanted.claims:
        compared_with = [
            claim for claim in wanted.claims if signed.is_compared(claim, wanted.up_to, _folder(wanted))
        ]
        note = "; ".join(
            f"{claim.where}: size {claim.checkpoint.size}"
            + (f", signed by {', '.join(claim.signed)}" if claim.signed else "")
            + ("" if claim in compared_with else ", not compared: it is of more events than were audited")
            for claim in wanted.claims
        )
        result = result_of(findings, "log.root", "log.size", "log.events")
        yield Check("log_root", result, len(compared_with), "checkpoints", note)
    if any(claim.signed for claim in wanted.claims) or any(
        found.what.startswith("log.signature") for found in wanted.found
    ):
        yield Check(
            "log_signatures",
            result_of(findings, "log.signature", "log.origin", "log.witness"),
            sum(len(claim.signed) for claim in wanted.claims),
            "signatures",
        )
    if wanted.files is not None:
        yield Check(
            "log_files",
            result_of(findings, "log.tile", "log.leaf", "log.entry"),
            compared.tiles + compared.bundles,
            "files",
            f"{compared.tiles} tiles of leaves and {compared.bundles} bundles of entries",
        )
