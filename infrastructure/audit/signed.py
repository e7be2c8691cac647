"""What others say of the log's tree: checkpoints with their signatures, from wherever they were kept.

A checkpoint is a claim about all events up to its size. Who signed it is verified here; whether the events
have that root is told by the audit, which hashes all of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import orjson

from infrastructure.audit.results import Finding
from infrastructure.evidence.folder import Generation as LogGeneration
from infrastructure.evidence.merkle import verify_consistency
from infrastructure.evidence.notes import (
    Checkpoint,
    NoteError,
    Verifier,
    parse_checkpoint,
    parse_note,
    parse_vkey,
    verify,
)
from infrastructure.evidence.unavailable import LogUnavailable

NOTE_BYTES_MAX: Final = 262_144


class Generation(NamedTuple):
    """A log as the ledger's events know it: `position` is that of the event that began it."""

    number: int
    origin: str
    keys: tuple[str, ...]
    position: int


class Claim(NamedTuple):
    """A checkpoint that was signed. `where` names what it was kept in, `signed` by whom (and when)."""

    where: str
    checkpoint: Checkpoint
    signed: tuple[str, ...]


def generations(stored: Iterable[bytes]) -> list[Generation]:
    """The logs that a ledger had, out of the events of its log's streams in the order of positions.

    Events that are malformed are passed over: that they are is found where events are audited.
    """
    found: dict[int, Generation] = {}
    for each in stored:
        try:
            event = orjson.loads(each)
            data: dict[str, Any] = event["data"]
            number, type_ = data["generation"], event["type"]
            if type_ == "LogStarted":
                found[number] = Generation(number, data["origin"], (data["vkey"],), event["position"])
            elif type_ == "LogKeyRotated":
                known = found[number]
                found[number] = known._replace(keys=(data["vkey"], *known.keys))
        except (ValueError, KeyError, TypeError):
            continue
    return [found[number] for number in sorted(found)]


def keys_of(texts: Iterable[str]) -> list[Verifier]:
    """The keys of these texts; those that are none are left out."""
    found = []
    for text in texts:
        try:
            found.append(parse_vkey(text.strip()))
        except NoteError:
            continue
    return found


def read_claim(
    where: str, note: bytes, log: Generation, witnesses: Sequence[Verifier], position: int
) -> tuple[Claim | None, list[Finding]]:
    """Verify a checkpoint's signatures: by one of the log's keys, and by each of the witnesses.

    `position` is where a finding about it belongs. Returns what can be relied on, and what is wrong.
    """
    try:
        parsed = parse_note(note)
        checkpoint = parse_checkpoint(parsed.text)
        own = verify(parsed, keys_of(log.keys))
    except NoteError as error:
        return None, [Finding(position, "log.signature", f"{where} signed by {log.origin}", str(error))]
    findings = []
    if checkpoint.origin != log.origin:
        findings.append(Finding(position, "log.origin", log.origin, checkpoint.origin))
    signed = [each.name for each in own]
    for witness in witnesses:
        try:
            signed += [f"{each.name} ({_moment(each.time)})" for each in verify(parsed, [witness])]
        except NoteError as error:
            findings.append(
                Finding(checkpoint.size, "log.witness", f"{where} cosigned by {witness.name}", str(error))
            )
    return Claim(where, checkpoint, tuple(signed)), findings


def compare_root(
    claim: Claim, span: tuple[int, int], roots: dict[int, bytes], files: Path | None
) -> list[Finding]:
    """Compare a claim with the roots that were found.

    `span` is how far was audited, and how many events there are in all: a tree that is larger than the first
    is proved to have grown out of ours, by the tiles in `files`, the folder of a generation of the log.
    """
    audited, there = span
    size, root = claim.checkpoint.size, claim.checkpoint.root
    if size > there:
        return [Finding(there + 1, "log.size", f"{size} events ({claim.where})", f"{there} events")]
    found = roots.get(min(size, audited))
    if found is None:
        return [Finding(size, "log.root", f"{root.hex()} ({claim.where})", "none: events are missing")]
    if size > audited:
        return _grown(claim, audited, found, files)
    if found == root:
        return []
    return [Finding(size, "log.root", f"{root.hex()} ({claim.where})", found.hex())]


def is_compared(claim: Claim, audited: int, files: Path | None) -> bool:
    """Whether a claim can be compared with events of which the first so many are audited."""
    return claim.checkpoint.size <= audited or files is not None


def _grown(claim: Claim, audited: int, found: bytes, files: Path | None) -> list[Finding]:
    size, root = claim.checkpoint.size, claim.checkpoint.root
    if files is None:
        return []
    try:
        proof = LogGeneration(files).consistency(audited, size)
    except LogUnavailable as missing:
        return [Finding(audited, "log.tile", f"a proof for {claim.where}", str(missing))]
    if verify_consistency(audited, found, size, root, proof):
        return []
    expected = f"a tree that {claim.where} grew out of"
    return [Finding(audited, "log.root", expected, found.hex())]


def read_note(path: Path) -> bytes:
    """A note that somebody kept in a file. Raises OSError."""
    with path.open("rb") as file:
        return file.read(NOTE_BYTES_MAX)


def _moment(seconds: int | None) -> str:
    if seconds is None:
        return "no time"
    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, OSError, ValueError):
        return f"{seconds} s"
