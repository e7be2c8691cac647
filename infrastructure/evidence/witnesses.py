"""Other people's signatures under our checkpoints: the log's side of C2SP tlog-witness.

A witness may be slow, away or wrong. None of that holds up the log: checkpoints are offered and forgotten,
the newest one is shown to all witnesses together by a thread of its own, and who has not answered in time is
asked with a later one. Witnesses are asked together: only so is there one checkpoint that all have signed.
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Final

from infrastructure.evidence.asking import Refusal, WitnessAddress, WitnessConnection
from infrastructure.evidence.notes import Checkpoint, Note, Verifier, parse_checkpoint, parse_note, write_note

ROUND_SECONDS_MAX: Final = 2.0
"""How long the witnesses that answered wait for those that did not."""
ANSWER_SECONDS_MAX: Final = 10.0
"""After this a witness that is still answering is hung up on."""
PAUSE_SECONDS_FIRST: Final = 0.5
PAUSE_SECONDS_MAX: Final = 60.0
DOUBLINGS_MAX: Final = 16

Prove = Callable[[int, int], Sequence[bytes]]
"""Gives the consistency proof from an older size to a newer one. Called from a witness's thread."""


@dataclass(frozen=True, slots=True)
class Cosigned:
    """A checkpoint with its log's signatures and those of witnesses: the note, and who of them signed it."""

    note: bytes
    checkpoint: Checkpoint
    witnesses: tuple[Verifier, ...]


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a witness stands: the size it has signed last, and what is wrong with it, if anything.

    `alarm`: it has seen another or a larger tree than ours, so one of the two has lost its memory or lies.
    """

    name: str
    size: int
    problem: str = ""
    alarm: bool = False


class _Round:
    """One checkpoint on its way through the witnesses."""

    def __init__(self, note: Note, prove: Prove) -> None:
        self.note = note
        self.prove = prove
        self.checkpoint = parse_checkpoint(note.text)
        self.lines: dict[Verifier, str] = {}
        self.waited_for = 0

    def cosigned(self) -> Cosigned:
        """The checkpoint with all signatures it has by now."""
        lines = [*(signature.line for signature in self.note.signatures), *self.lines.values()]
        return Cosigned(write_note(self.note.text, lines), self.checkpoint, tuple(self.lines))


@dataclass(slots=True)
class _Witness:
    """One witness, as one thread at a time asks it."""

    connection: WitnessConnection
    origin: str = ""
    size: int = 0
    failures: int = 0
    ask_again_at: float = 0.0
    asked_at: float | None = None
    problem: str = ""
    alarm: bool = False

    def take_turn(self, origin: str) -> None:
        """Get ready for a log, which may be another than last time."""
        if origin != self.origin:
            self.origin, self.size = origin, 0
        self.asked_at = time.monotonic()

    def succeeded(self, size: int) -> None:
        self.size, self.failures, self.problem, self.alarm = size, 0, "", False

    def failed(self, problem: Refusal) -> None:
        pause = math.ldexp(PAUSE_SECONDS_FIRST, min(self.failures, DOUBLINGS_MAX))
        self.failures += 1
        self.ask_again_at = time.monotonic() + min(pause, PAUSE_SECONDS_MAX)
        self.problem, self.alarm = str(problem), problem.alarm


@dataclass(slots=True)
class Witnesses:
    """The witnesses of a log. `offer` a checkpoint, look at `newest`; `stop` at the end."""

    addresses: Sequence[WitnessAddress]
    _witnesses: list[_Witness] = field(init=False)
    _changed: threading.Condition = field(init=False, default_factory=threading.Condition)
    _offered: _Round | None = field(init=False, default=None)
    _best: dict[int, Cosigned] = field(init=False, default_factory=dict)
    _stopping: bool = field(init=False, default=False)
    _thread: threading.Thread | None = field(init=False, default=None)

    def __post_init__(self) -> None:
        """Get ready; nobody is asked before the first offer."""
        self._witnesses = [_Witness(WitnessConnection(address)) for address in self.addresses]

    def offer(self, note: bytes, prove: Prove) -> None:
        """Have a checkpoint cosigned, in place of any that has not been shown yet. Returns at once.

        `note` is the log's signed checkpoint, `prove` gives consistency proofs up to its size. Raises
        NoteError where the note is none.
        """
        offered = _Round(parse_note(note), prove)
        with self._changed:
            if not self._witnesses or self._stopping:
                return
            self._offered = offered
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="witnesses", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def newest(self, at_least: int | None = None) -> Cosigned | None:
        """Return the newest checkpoint that all witnesses signed, or at least so many (1 or more) of them."""
        wanted = len(self._witnesses) if at_least is None else at_least
        with self._changed:
            return self._best.get(wanted)

    def standing(self) -> list[Standing]:
        """Tell where each witness stands."""
        with self._changed:
            return [
                Standing(each.connection.verifier.name, each.size, each.problem, each.alarm)
                for each in self._witnesses
            ]

    def stop(self) -> None:
        """Ask nobody any more; hang up on those that are answering."""
        with self._changed:
            self._stopping = True
            self._changed.notify_all()
            thread = self._thread
        if thread is not None:
            thread.join()
        with self._changed:
            for each in self._witnesses:
                if each.asked_at is None:
                    each.connection.close()
                else:
                    each.connection.hang_up()  # and its thread gives the connection up

    def _run(self) -> None:
        while (one := self._next_round()) is not None:
            with self._changed:
                asked = [each for each in self._witnesses if self._may_ask(each)]
                for each in asked:
                    each.take_turn(one.checkpoint.origin)
                one.waited_for = len(asked)
            for each in asked:
                try:
                    threading.Thread(target=self._ask, args=(each, one), daemon=True).start()
                except RuntimeError:  # the system has no thread for us now
                    self._note(each, one, "", Refusal("there is no thread to ask it with"))
            self._wait_for(one)

    def _next_round(self) -> _Round | None:
        """Wait until there is a checkpoint and somebody to show it to; None at the end."""
        with self._changed:
            while not self._stopping:
                if self._offered is not None and any(map(self._may_ask, self._witnesses)):
                    one, self._offered = self._offered, None
                    return one
                self._hang_up_on_the_slow()
                self._changed.wait(None if self._offered is None else PAUSE_SECONDS_FIRST)
        return None

    def _wait_for(self, one: _Round) -> None:
        deadline = time.monotonic() + ROUND_SECONDS_MAX
        with self._changed:
            while one.waited_for and not self._stopping and (left := deadline - time.monotonic()) > 0:
                self._changed.wait(left)
            self._hang_up_on_the_slow()

    def _may_ask(self, each: _Witness) -> bool:
        return each.asked_at is None and time.monotonic() >= each.ask_again_at

    def _hang_up_on_the_slow(self) -> None:
        for each in self._witnesses:
            if each.asked_at is not None and time.monotonic() - each.asked_at > ANSWER_SECONDS_MAX:
                each.connection.hang_up()

    def _ask(self, each: _Witness, one: _Round) -> None:
        """Show one checkpoint to one witness and take down what it says; in a thread of its own."""
        line, refusal = "", Refusal("the consistency proof cannot be made")
        with suppress(Exception):  # of our own proof: whatever it is, only this witness's answer is missing
            try:
                line = each.connection.cosign(one.note, one.checkpoint, each.size, one.prove)
            except Refusal as problem:
                refusal = problem
        self._note(each, one, line, refusal)

    def _note(self, each: _Witness, one: _Round, line: str, refusal: Refusal) -> None:
        with self._changed:
            each.asked_at = None
            one.waited_for -= 1
            if line:
                each.succeeded(one.checkpoint.size)
                one.lines[each.connection.verifier] = line
                self._remember(one)
            else:
                each.failed(refusal)
            if self._stopping:
                each.connection.close()
            self._changed.notify_all()

    def _remember(self, one: _Round) -> None:
        found = one.cosigned()
        for count in range(1, len(one.lines) + 1):
            best = self._best.get(count)
            if (
                best is None
                or best.checkpoint.origin != found.checkpoint.origin
                or best.checkpoint.size <= found.checkpoint.size
            ):
                self._best[count] = found
