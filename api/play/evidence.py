"""A finished round as one file that proves itself: its events, its rules, and where they lie in the log.

Format ``stud-ledger/evidence/2``. The bytes are canonical JSON (RFC 8785), with no newline behind it, of

- ``format``, ``round_id``, ``player`` (null, or whose part of the round it is), ``currency``
- ``events``: the stored events, canonical bytes again when written so; another player's by leaf hash alone
- ``ruleset`` and ``jackpot``: the documents whose hashes stand on the round (G7)
- ``log``: ``origin``, ``keys`` (the log's keys that signed the checkpoint), ``checkpoint`` (the whole note),
  ``proofs`` (an inclusion proof for each event, in the events' order), ``earlier`` (size and root of a
  smaller tree, and the proof that this one begins with it: the tree before the round began, or another one)
- ``sha256``: of the canonical JSON of everything else, so that one changed bit shows anywhere
"""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterable
from typing import Any, Final

import orjson

from api.play.visible import evidence_events
from domain.jackpots import parameters_document
from domain.money import exponent
from infrastructure.evidence.folder import Generation
from infrastructure.evidence.merkle import Read, consistency_proof, inclusion_proof, root_at
from infrastructure.evidence.notes import NoteError, parse_checkpoint, parse_note, parse_vkey, verify
from infrastructure.evidence.unavailable import LogUnavailable
from infrastructure.reading import FoundRound

FORMAT: Final = "stud-ledger/evidence/2"


def evidence(
    found: FoundRound,
    stored: list[bytes],
    player: str | None,
    log: Generation,
    note: bytes,
    since: int | None = None,
) -> bytes:
    """The evidence file of a finished round; with a player's pseudonym, without what is other players'.

    `note` is a checkpoint that has all the round's events, `since` the size of the earlier tree to prove
    consistency with. Raises LogUnavailable where the log's files cannot be read.
    """
    currency = found.round.opened.currency
    jackpot = jackpot_document(found)
    events = evidence_events(stored, player)
    document = {
        "format": FORMAT,
        "round_id": found.round.id,
        "player": player,
        "events": events,
        "ruleset": found.ruleset.document,
        "currency": {"code": currency, "exponent": exponent(currency)},
        "log": log_part(log, note, [event["position"] for event in events], since),
        **({} if jackpot is None else {"jackpot": jackpot}),
    }
    document["sha256"] = hashlib.sha256(_canonical(document)).hexdigest()
    return _canonical(document)


def jackpot_document(found: FoundRound) -> dict[str, Any] | None:
    """The jackpot parameters that the round is played by, as they were hashed; None without a jackpot."""
    pinned = found.round.opened.jackpot
    if pinned is None:
        return None
    currency = found.round.opened.currency
    return parameters_document(
        pinned.id,
        currency,
        pinned.contribution,
        pinned.reset,
        pinned.version,
        pinned.ceiling,
        pinned.diversion,
    )


def log_part(log: Generation, note: bytes, positions: list[int], since: int | None) -> dict[str, Any]:
    """What proves that events stand at these positions of the log, in ascending order."""
    checkpoint = parse_checkpoint(parse_note(note).text)
    size, read = checkpoint.size, _remembering(log.hashes(checkpoint.size))
    earlier = positions[0] - 1 if since is None else since
    return {
        "origin": checkpoint.origin,
        "keys": signing_keys(note, log.keys()),
        "checkpoint": note.decode(),
        "proofs": inclusion_proofs([position - 1 for position in positions], size, read),
        "earlier": {
            "size": earlier,
            "root": _base64([root_at(earlier, read)])[0],
            "proof": _base64(consistency_proof(earlier, size, read)),
        },
    }


def inclusion_proofs(indexes: Iterable[int], size: int, read: Read) -> list[list[str]]:
    """An inclusion proof for each leaf, in base64: those of neighbours are made of each other's.

    Two leaves of one complete subtree have the same path from its root up, and below that root every sibling
    is a complete subtree itself. Raises LogUnavailable.
    """
    proofs: list[list[str]] = []
    before = -1
    for index in indexes:
        height = (index ^ before).bit_length()
        if before >= 0 and ((index >> height) + 1) << height <= size:
            below = _base64(read(level, (index >> level) ^ 1) for level in range(height))
            proofs.append(below + proofs[-1][height:])
        else:
            proofs.append(_base64(inclusion_proof(index, size, read)))
        before = index
    return proofs


def signing_keys(note: bytes, keys: Iterable[str]) -> list[str]:
    """Those of the log's keys that signed a checkpoint. Raises LogUnavailable where none did."""
    try:
        signed = verify(parse_note(note), [parse_vkey(key) for key in keys])
    except NoteError as error:
        raise LogUnavailable(f"the log's checkpoint and its keys do not belong together: {error}") from None
    return [each.verifier.vkey for each in signed]


def _remembering(read: Read) -> Read:
    """Read each hash once: proofs of adjoining events have most of them in common."""
    known: dict[tuple[int, int], bytes] = {}

    def remembered(level: int, index: int) -> bytes:
        found = known.get((level, index))
        if found is None:
            found = known[level, index] = read(level, index)
        return found

    return remembered


def _base64(hashes: Iterable[bytes]) -> list[str]:
    return [b64encode(each).decode() for each in hashes]


def _canonical(document: dict[str, Any]) -> bytes:
    return orjson.dumps(document, option=orjson.OPT_SORT_KEYS)
