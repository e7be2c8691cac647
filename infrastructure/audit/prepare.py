"""What an audit has to know before it begins: what the log, and whoever kept checkpoints, claim of events."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from infrastructure.audit import signed
from infrastructure.audit.database import Database
from infrastructure.audit.log_files import LogFiles
from infrastructure.audit.rebuilt import check_projections
from infrastructure.audit.report import Check
from infrastructure.audit.results import Finding
from infrastructure.audit.run import Aside, Wanted
from infrastructure.audit.signed import Claim, Generation
from infrastructure.audit.tables_beside import check_tables
from infrastructure.evidence.folder import LogFolder, has_begun, read_head
from infrastructure.evidence.notes import Checkpoint, NoteError, Verifier, parse_checkpoint, parse_note
from infrastructure.evidence.unavailable import LogUnavailable


@dataclass(frozen=True, slots=True)
class Held:
    """What somebody holds of a log: checkpoints that were saved, by name, and keys of witnesses.

    `keys` are the log's own, where somebody knows them from elsewhere: no other key's signature counts then.
    """

    saved: Sequence[tuple[str, bytes]] = ()
    witnesses: Sequence[Verifier] = ()
    keys: Sequence[str] = ()


@dataclass(slots=True)
class Claims:
    """What is claimed of the events, what is wrong with that itself, and what is known of the log."""

    claims: list[Claim] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    files: LogFiles | None = None
    not_checked: list[Check] = field(default_factory=list)
    log: dict[str, object] = field(default_factory=dict)

    def take(self, where: str, note: bytes, log: Generation, held: Held, *, cosigned: bool) -> None:
        """Take a checkpoint for what it is worth."""
        trusted = log._replace(keys=tuple(held.keys) or log.keys)
        witnesses = held.witnesses if cosigned else ()
        claim, findings = signed.read_claim(where, note, trusted, witnesses, log.position)
        self.findings += findings
        if claim is not None:
            self.claims.append(claim)


def of_database(
    database: Database,
    login: tuple[str, str],
    span: tuple[int, int],
    *,
    run_id: str,
    software: str,
    log_folder: Path | None,
    held: Held | None = None,
    with_tables: bool = True,
) -> Wanted:
    """What is wanted of a database: `login` is how to log in and the schema, `span` as `bounds` gives it.

    Raises psycopg.Error, LogUnavailable.
    """
    after, up_to = span
    claims = claims_of(database.stream_events("log"), log_folder, held or Held())
    asides: list[Aside] = []
    if with_tables and not after:
        asides.append(Aside("tables", "events", check_tables, login))
        asides.append(Aside("projections", "events", check_projections, login))
    else:
        note = "they are as of now: they are compared where the audit is of all events"
        claims.not_checked += [Check(name, "not_checked", note=note) for name in ("tables", "projections")]
    found = [*claims.findings, *_head(database)]
    return Wanted(
        run_id,
        after,
        up_to,
        software,
        claims=claims.claims,
        files=claims.files,
        asides=asides,
        not_checked=claims.not_checked,
        found=found,
        log=claims.log,
        there=database.count(),  # behind the claims: the log may have sealed more in the meantime
    )


def _head(database: Database) -> list[Finding]:
    head, last = database.head, database.last
    if head == last:
        return []
    return [Finding(min(head, last) + 1, "position.head", f"the ledger's head: {head}", f"{last} events")]


def claims_of(stored: Sequence[bytes], folder: Path | None, held: Held) -> Claims:
    """What the log's folder claims of a ledger, and what others hold; `stored` are the events of its logs."""
    result = Claims()
    known = signed.generations(stored)
    for name, note in held.saved:
        _take_saved(result, name, note, known, held)
    if folder is not None:
        known += _unknown(result, folder, known)
    if not known:
        result.not_checked.append(Check("log", "not_checked", note="no event here begins an evidence log"))
        return result
    if folder is None:
        why = "there is no folder of the log: only what was saved elsewhere is compared"
        result.not_checked.append(Check("log_files", "not_checked", note=why))
        return result
    _take_folder(result, folder, known, stored, held)
    return result


def _unknown(result: Claims, folder: Path, known: Sequence[Generation]) -> list[Generation]:
    """A log that has published checkpoints, and of which the ledger's events say nothing (any more)."""
    log = LogFolder(folder)
    newest = max(log.generations(), default=0)
    if newest <= (known[-1].number if known else 0):
        return []
    try:
        checkpoint, keys = log.generation(newest).newest(), log.generation(newest).keys()
    except LogUnavailable:
        return []
    origin = "?" if checkpoint is None else checkpoint.origin
    result.findings.append(Finding(1, "log.events", f"an event that begins {origin}", "none"))
    return [Generation(newest, origin, tuple(keys), 1)]


def _take_folder(
    result: Claims, folder: Path, known: Sequence[Generation], stored: Sequence[bytes], held: Held
) -> None:
    current = known[-1]
    log = LogFolder(folder).generation(current.number)
    try:
        note, cosigned = log.note(), log.cosigned()
        checkpoint = log.newest()
    except LogUnavailable as damaged:
        result.findings.append(Finding(current.position, "log.checkpoint", "a checkpoint", str(damaged)))
        return
    if (note is None or checkpoint is None) and has_begun(folder, current.number):
        result.not_checked.append(Check("log_files", "not_checked", note="nothing was signed yet"))
        return
    if note is None or checkpoint is None:
        found = f"none in {folder.name}"
        result.findings.append(Finding(current.position, "log.checkpoint", "a checkpoint", found))
        return
    result.take("the log's newest checkpoint", note, current, held, cosigned=False)
    if cosigned is not None:
        result.take("the newest cosigned one", cosigned, current, held, cosigned=True)
    elif held.witnesses:
        names = ", ".join(witness.name for witness in held.witnesses)
        result.findings.append(Finding(current.position, "log.witness", f"cosigned by {names}", "nothing"))
    _take_head(result, folder, current, held)
    result.files = LogFiles(log.place, checkpoint.size)
    result.log = {
        "origin": current.origin,
        "generation": current.number,
        "keys": list(current.keys),
        "size": checkpoint.size,
        "root": checkpoint.root_text,
    }
    _take_earlier(result, folder, known, stored)


def _take_head(result: Claims, folder: Path, current: Generation, held: Held) -> None:
    """What was signed last: a checkpoint that was published since then must not be smaller."""
    try:
        head = read_head(folder)
    except LogUnavailable as damaged:
        result.findings.append(Finding(current.position, "log.checkpoint.head", "a note", str(damaged)))
        return
    if head is None and has_begun(folder, current.number):  # else a copy of what is served, which has no head
        what = "log.checkpoint.head"
        result.findings.append(Finding(current.position, what, "what was signed last", "nothing"))
    if head is not None and head.generation == current.number:
        result.take("what was signed last", head.note, current, held, cosigned=False)


def _take_earlier(result: Claims, folder: Path, known: Sequence[Generation], stored: Sequence[bytes]) -> None:
    """What earlier logs say of the events that were not lost with them."""
    agreed: dict[int, int] = {}
    for each in stored:
        data = orjson.loads(each)["data"]
        lost_from = (data.get("previous") or {}).get("lost_from")
        if lost_from is not None:
            agreed[data["generation"] - 1] = lost_from - 1
    for before in known[:-1]:
        size = agreed.get(before.number, 0)
        if size < 1:
            continue
        try:
            root = LogFolder(folder).generation(before.number).root(size)
        except LogUnavailable:
            note = f"the folder of {before.origin} is not there"
            result.not_checked.append(Check("earlier_log", "not_checked", note=note))
            continue
        where = f"the tiles of {before.origin}, up to what was lost"
        result.claims.append(Claim(where, Checkpoint(before.origin, size, root), ()))


def _take_saved(result: Claims, name: str, note: bytes, known: Sequence[Generation], held: Held) -> None:
    try:
        origin = parse_checkpoint(parse_note(note).text).origin
    except NoteError as error:
        result.findings.append(Finding(1, "log.signature", f"a checkpoint in {name}", str(error)))
        return
    for log in known:
        if log.origin == origin:
            result.take(name, note, log, held, cosigned=True)
            return
    names = ", ".join(log.origin for log in known) or "no log"
    result.findings.append(Finding(1, "log.origin", f"{origin} ({name})", names))
