"""Which evidence log the ledger has, who signs it, and what happens when the two do not agree.

The first log is started with the ledger. From then on the events of the ledger are leaves of a tree that was
signed and shown to others: should the ledger ever be another one than that (a backup was restored, rows were
changed), nothing that moves money is taken until two people start a new log. It names the old one and what
was lost. Keys are C2SP verifier keys (signed-note, "Verifier keys"): name, key id and Ed25519 key.
"""

from __future__ import annotations

import hashlib
import re
from base64 import b64decode, b64encode
from binascii import Error as Base64Error
from typing import Any, Final

from domain import events as ev
from domain.approvals import Action, Approved, register
from domain.commands import HaltLog, StartLog
from domain.registers import LOG, LogState
from domain.rejections import Rejection
from domain.work import Work

KEY: Final = "log_key"
GENERATION: Final = "log"
KEYS_MAX: Final = 64
"""So many keys one log can have had: all of them stand in the register that every writer reads."""

ED25519: Final = b"\x01"
KEY_ID_BYTES: Final = 4
PUBLIC_BYTES: Final = 32
ROOT_BYTES: Final = 32
_VKEY: Final = re.compile(r"([^\s+]{1,128})\+([0-9a-f]{8})\+([A-Za-z0-9+/=]{1,64})")
_ORIGIN: Final = re.compile(r"([A-Za-z0-9._/-]{1,100})/([1-9][0-9]{0,8})")


def start_log(command: StartLog, work: Work) -> dict[str, Any]:
    """Start the first log; a ledger that has one keeps it. Returns what `log_view` says."""
    if work.log.generation == 0:
        if generation_of(command.origin) != 1:
            raise Rejection("validation_failed", "The first log's origin ends in /1.")
        _require_vkey(command.vkey, command.origin)
        _begin(work, ev.LogStarted(1, command.origin, command.vkey))
    return log_view(work.log)


def halt_log(command: HaltLog, work: Work) -> dict[str, Any]:
    """Halt the ledger; one that is halted, or whose log is a newer one, stays as it is. Returns the view."""
    state = work.log
    if state.generation == 0:
        raise Rejection("validation_failed", "The ledger has no log that it could differ from.")
    if state.generation == command.generation and state.halted is None:
        state.halted = command.reason
        state.size, state.root, state.position = command.size, command.root, command.position
        state.signed_origin, state.signed_vkey = command.origin, command.vkey
        event = ev.LogHalted(
            state.generation,
            command.reason,
            command.position,
            command.size,
            command.root,
            command.origin,
            command.vkey,
        )
        _emit(work, event)
    return log_view(state)


def log_view(state: LogState) -> dict[str, Any]:
    """The log as the HTTP contract shows it."""
    view: dict[str, Any] = {
        "generation": state.generation,
        "origin": state.origin,
        "keys": list(state.keys),
        "halted": state.halted is not None,
    }
    if state.halted is not None:
        view["reason"] = state.halted
        view["agree_to"] = state.position
        if state.size is not None:
            view["signed"] = {"size": state.size, "root": state.root}
        view["next_origin"] = next_origin(state)
    return view


def generation_of(origin: str) -> int:
    """The generation that an origin ends in. Rejects with validation_failed what is no origin of ours."""
    match = _ORIGIN.fullmatch(origin)
    if match is None:
        raise Rejection("validation_failed", "A log's origin is a name, a slash and its generation.")
    return int(match[2])


def next_origin(state: LogState) -> str:
    """What the log after this one is called; a later one that was lost with its events has had a name too."""
    last = max(state.generation, generation_of(state.signed_origin or state.origin))
    return f"{state.origin.rpartition('/')[0]}/{last + 1}"


def _begin(work: Work, event: ev.LogStarted) -> None:
    state = work.log
    state.generation, state.origin, state.keys = event.generation, event.origin, [event.vkey]
    state.version = 0
    state.halted = state.size = state.root = state.position = None
    state.signed_origin = state.signed_vkey = None
    _emit(work, event)


def _emit(work: Work, event: ev.LogStarted | ev.LogKeyRotated | ev.LogHalted) -> None:
    work.log.version += 1
    work.touched_registers.add(LOG)
    work.emit(f"log-{event.generation}", work.log.version, event)


def _require_vkey(vkey: str, origin: str) -> None:
    """Reject what is no Ed25519 verifier key of that name: nobody could verify what it is said to sign."""
    match = _VKEY.fullmatch(vkey)
    data = b""
    if match is not None:
        try:
            data = b64decode(match[3], validate=True)
        except Base64Error:
            data = b""
    spelt = b64encode(data).decode() == (match and match[3])  # one key has one text
    if match is None or not spelt or len(data) != 1 + PUBLIC_BYTES or data[:1] != ED25519:
        raise Rejection("validation_failed", "That is not an Ed25519 verifier key: name+id+key.")
    if match[1] != origin:
        raise Rejection("validation_failed", f"The key's name is to be {origin}.", origin=origin)
    if hashlib.sha256(f"{origin}\n".encode() + data).digest()[:KEY_ID_BYTES].hex() != match[2]:
        raise Rejection("validation_failed", "The key's id is not that of its name and key.")


# ── Another key for the same log ────────────────────────────────────────────────────────────────────────────
def _key_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    state = work.log
    _require_usable(payload)
    if state.generation == 0:
        raise Rejection("validation_failed", "The ledger has no log yet.")
    if state.halted is not None:
        raise Rejection("validation_failed", "The log is halted: start a new one, with a key of its own.")
    _require_vkey(payload["vkey"], state.origin)
    _require_new(payload["vkey"], state)
    if len(state.keys) >= KEYS_MAX:
        raise Rejection("validation_failed", f"The log has had {KEYS_MAX} keys: it can have no more.")
    return {"generation": state.generation, "vkey": payload["vkey"], "previous_vkey": state.vkey}


def _key_apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    state = work.log
    event = ev.LogKeyRotated(state.generation, payload["vkey"], state.vkey, **approved._asdict())
    state.keys.insert(0, event.vkey)
    _emit(work, event)
    return log_view(state)


def _require_usable(payload: dict[str, Any]) -> None:
    """Reject what the edge has found wrong with a key or a checkpoint: only it sees files and signatures."""
    if "unusable" in payload:
        raise Rejection("validation_failed", payload["unusable"])


def _require_new(vkey: str, state: LogState) -> None:
    """Reject a key that has signed before, whatever it was called then."""
    if vkey.rpartition("+")[2] in {known.rpartition("+")[2] for known in state.keys}:
        raise Rejection("validation_failed", "That key has signed this log: a new one is needed.")


# ── Another log ─────────────────────────────────────────────────────────────────────────────────────────────
def _generation_effect(payload: dict[str, Any], work: Work) -> dict[str, Any]:
    state = work.log
    _require_usable(payload)
    if state.halted is None:
        raise Rejection("validation_failed", "The log is not halted: it goes on, and no new one is started.")
    origin = next_origin(state)
    if payload["origin"] != origin:
        raise Rejection("validation_failed", f"The new log's origin is to be {origin}.", origin=origin)
    _require_vkey(payload["vkey"], origin)
    _require_new(payload["vkey"], state)
    return {
        "generation": generation_of(origin),
        "origin": origin,
        "previous": _previous_view(payload, state),
    }


def _generation_apply(payload: dict[str, Any], work: Work, approved: Approved) -> dict[str, Any]:
    state = work.log
    previous = _previous(payload, state)
    _begin(
        work,
        ev.LogStarted(
            generation_of(payload["origin"]),
            payload["origin"],
            payload["vkey"],
            previous,
            **approved._asdict(),
        ),
    )
    return log_view(state)


def _previous(payload: dict[str, Any], state: LogState) -> ev.PreviousLog:
    """The log that is left, with the newest checkpoint that is known of it: the halt's, or one brought along.

    Rejects with validation_failed a checkpoint that is older than the one the ledger was halted with.
    """
    size, root = state.size, state.root
    if "size" in payload:
        same = (payload["size"], payload["root"]) == (size, root)
        if size is not None and payload["size"] <= size and not same:
            detail = f"The log has signed a checkpoint of {size} leaves: that one, or a later, is needed."
            raise Rejection("validation_failed", detail, size=size, root=root)
        size, root = payload["size"], payload["root"]
        _require_root(root)
    agree_to = state.position or 0
    lost = size is not None and size > agree_to
    return ev.PreviousLog(
        state.signed_origin or state.origin,
        state.signed_vkey or state.vkey,
        size,
        root,
        lost_from=agree_to + 1 if lost else None,
        lost_to=size if lost else None,
    )


def _previous_view(payload: dict[str, Any], state: LogState) -> dict[str, Any]:
    previous = _previous(payload, state)
    values = {name: getattr(previous, name) for name in ev.PreviousLog.__slots__}
    return {name: value for name, value in values.items() if value is not None}


def _require_root(root: object) -> None:
    try:
        data = b64decode(root, validate=True) if isinstance(root, str) else b""
    except Base64Error:
        data = b""
    if len(data) != ROOT_BYTES or b64encode(data).decode() != root:
        raise Rejection("validation_failed", "A checkpoint's root is 32 bytes in base64.")


register(Action(KEY, _key_effect, _key_apply))
register(Action(GENERATION, _generation_effect, _generation_apply))
