"""The evidence log: what proposals and answers look like."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

from pydantic import AfterValidator, Field

from api.shapes import Answer, Body, CheckpointAnswer, Note, lines_of_text

NOTE_BYTES_MAX: Final = 16_000

VerifierKey = Annotated[
    str,
    Field(
        pattern=r"^[!-~]{1,256}$",
        description="A C2SP verifier key: name, key id and Ed25519 key, as `scripts/log new-key` prints it.",
        examples=["stud-ledger/3f79bb7b435b0532/1+0b5e3c5f+AWvHgkIsAnYmfv3uZ1YMSSLmpCoQvBPj0RBF0fe7QSbn"],
    ),
]
SignedCheckpoint = Annotated[
    str,
    Field(
        min_length=1,
        max_length=NOTE_BYTES_MAX,
        description="A checkpoint with its signatures: the file at `/log/checkpoint` when it was served.",
    ),
    AfterValidator(lines_of_text),
]


class KeyBody(Body):
    """The key that is to sign from now on; its secret half is in the service's keys already."""

    vkey: VerifierKey
    note: Note


class GenerationBody(Body):
    """A new log's key, and the newest checkpoint of the old one that anybody has, if the ledger has none."""

    vkey: VerifierKey
    note: Note
    old_checkpoint: SignedCheckpoint | None = None


class LogAnswer(Answer):
    """The evidence log: its name, its keys (the newest signs), and how far it has signed.

    While the ledger is `halted`, `reason` says why, `agree_to` up to which position ledger and log agree,
    `signed` what the log has signed last as far as it is known, and `next_origin` what the log is to be
    called that two people start in its place.
    """

    generation: int
    origin: str
    keys: list[str]
    halted: bool
    checkpoint: CheckpointAnswer | None = None
    reason: Literal["behind", "differs", "lost"] | None = None
    agree_to: int | None = None
    signed: CheckpointAnswer | None = None
    next_origin: str | None = None


_ORIGIN: Final = "stud-ledger/3f79bb7b435b0532/1"
VKEY: Final = f"{_ORIGIN}+0b5e3c5f+AWvHgkIsAnYmfv3uZ1YMSSLmpCoQvBPj0RBF0fe7QSbn"
VKEY_2: Final = f"{_ORIGIN[:-1]}2+5f0a4a5e+AXbDD3Pj5kzZ0qkDZz3q3dyvTvD2nHgvyWvQpJYqyE8S"
_ROOT: Final = "CsUYapGGPo4dkMgIAUqom/Xajj7h2fB2MPA3j2jxq2I="
LOG: Final[dict[str, Any]] = {
    "generation": 1,
    "origin": _ORIGIN,
    "keys": [VKEY],
    "halted": False,
    "checkpoint": {"size": 4711, "root": _ROOT},
}
KEY_EFFECT: Final[dict[str, Any]] = {"generation": 1, "vkey": VKEY, "previous_vkey": VKEY}
GENERATION_EFFECT: Final[dict[str, Any]] = {
    "generation": 2,
    "origin": f"{_ORIGIN[:-1]}2",
    "previous": {
        "origin": _ORIGIN,
        "vkey": VKEY,
        "size": 4711,
        "root": _ROOT,
        "lost_from": 4201,
        "lost_to": 4711,
    },
}
