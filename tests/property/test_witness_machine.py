"""A witness that is shown forks, killed between any two steps of keeping what it signs, and started again."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from infrastructure.witness.state import State
from infrastructure.witness.trust import KnownLogs
from infrastructure.witness.witness import Witness
from tests.unit.infrastructure.witness.small_log import ORIGIN, SmallLog

SIZE = 40
LOGS = [SmallLog(SIZE), SmallLog(SIZE, fork_at=0), SmallLog(SIZE, fork_at=17), SmallLog(SIZE, fork_at=31)]
STEPS = ["os.open", "os.fsync", "pathlib.Path.replace"]


class _Killed(BaseException):
    """The process ends here."""


class WitnessMachine(RuleBasedStateMachine):
    """Whatever is shown in whatever order, all that is ever signed is one history, and is remembered."""

    @initialize()
    def begin(self) -> None:
        """Start a new witness."""
        self.folder = Path(tempfile.mkdtemp(prefix="witness-"))
        self.signed: dict[int, bytes] = {}
        self.stack = ExitStack()
        self.start()

    def start(self) -> None:
        """Start it on its folder, as a new process would."""
        state = self.stack.enter_context(State.open(self.folder, "w"))
        self.witness = Witness(state, KnownLogs([LOGS[0].key.verifier.vkey]), lambda: 1.0, lambda _: None)

    def old(self) -> int:
        """Return what size it says it has signed."""
        last = self.witness.last(ORIGIN)
        return 0 if last is None else last.size

    def show(self, log: SmallLog, old: int, size: int) -> None:
        """Show a checkpoint; remember what is signed."""
        if self.witness.add_checkpoint(log.request(old, size)).status == 200:
            root = log.checkpoint(size).root
            assert self.signed.setdefault(size, root) == root

    @rule(log=st.sampled_from(LOGS), size=st.integers(0, SIZE))
    def shown_what_continues(self, log: SmallLog, size: int) -> None:
        """A log asks with the size the witness has signed, as an honest one does."""
        self.show(log, min(self.old(), size), size)

    @rule(log=st.sampled_from(LOGS), old=st.integers(0, SIZE), size=st.integers(0, SIZE))
    def shown_anything(self, log: SmallLog, old: int, size: int) -> None:
        """A log asks with any size."""
        self.show(log, min(old, size), size)

    @rule(
        log=st.sampled_from(LOGS),
        size=st.integers(1, SIZE),
        step=st.sampled_from(STEPS),
        count=st.integers(0, 2),
    )
    def killed_while_it_signs(self, log: SmallLog, size: int, step: str, count: int) -> None:
        """The process ends before one of the steps in which a signature is kept, and another one starts."""
        left = [count]

        def ending(real: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                if left[0] == 0:
                    raise _Killed
                left[0] -= 1
                return real(*arguments, **named)

            return call

        real: Callable[..., Any] = {"os.open": os.open, "os.fsync": os.fsync}.get(step, Path.replace)
        try:
            with mock.patch(step, ending(real)):
                self.show(log, min(self.old(), size), size)
        except _Killed:
            self.stack.close()
            self.start()

    @rule()
    def started_again(self) -> None:
        """It is stopped in order and started."""
        self.stack.close()
        self.start()

    @invariant()
    def one_history_was_signed(self) -> None:
        """Every root that was ever signed is of one and the same log, and the last one is remembered."""
        if getattr(self, "signed", None):
            assert any(
                all(log.checkpoint(size).root == root for size, root in self.signed.items()) for log in LOGS
            )
            assert self.old() >= max(self.signed)

    def teardown(self) -> None:
        """Remove the folder."""
        if hasattr(self, "stack"):
            self.stack.close()
            shutil.rmtree(self.folder)


TestWitness = WitnessMachine.TestCase
TestWitness.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
TestWitness.__doc__ = "Whatever happens to a witness, it signs one history (G9)."
