"""A whole ledger in one thread: writers, clients, clocks, failures and what they read, all by one seed.

Nothing here waits or runs by itself. The real writers are taken a step at a time, each by itself or while
another one waits for its database; clients' requests lie in a network that delivers them in any order,
twice, or only when they are sent again; a process can die at any step, and then all it had in memory is gone.
Whatever is committed is put to the naive model at once.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any
from unittest import mock

from domain import commands as c
from infrastructure.ledger import postgres
from infrastructure.ledger import writer as writing
from infrastructure.ledger.submission import (
    Result,
    Submission,
    command_id,
    continuation,
    fingerprint,
    own_submission,
)
from infrastructure.projections import rebuilds
from tests.property.deterministic.naive_model import Model
from tests.property.deterministic.simulated_ledgers import SimulatedLedger
from tests.property.deterministic.simulated_machines import Machine, Sent, ended
from tests.property.deterministic.simulated_oracle import Oracle, require
from tests.property.deterministic.simulated_play import Play
from tests.property.deterministic.simulated_stores import Crash

NOON_US = 1_790_942_400_000_000
PAUSE_SECONDS = 2.0
"""How long a writer waits between two attempts: longer than really, so that an outage takes fewer of them."""
WAIT_SECONDS_MAX = 3 * (writing.RECOVERY_SECONDS + PAUSE_SECONDS)
"""A writer waits for its database for so long, and in that time each of two others does."""
DRAIN_STEPS_MAX = 20_000
TICKS_US = (1, 1_000, 1_000_000, 4_000_000, 25_000_000, 901_000_000, -5_000_000)
TICK_WEIGHTS = (2, 2, 6, 3, 1, 0.2, 0.5)
FAULTS = ("lost", "lost", "lost after", "lost after", "crash", "crash after", "refused")


class World:
    """One seed's run. `steps` is what happened, to be read when something does not hold."""

    def __init__(self, seed: int, ledger: SimulatedLedger, model: Model) -> None:
        self.seed, self.ledger, self.model = seed, ledger, model
        self.chance = random.Random(seed)
        self.entropy = random.Random(-seed - 1)
        self.play = Play(random.Random(seed + 10**9), model)
        self.now_us = NOON_US + 86_400_000_000
        self.monotonic = 0.0
        self.faults = self.chance.choice((0.0, 0.02, 0.02, 0.08))
        self.outage = self.full = 0
        self.steps: list[str] = []
        self.oracle = Oracle(ledger, model, self.steps)
        self.network: list[Sent] = []
        self.all: list[Sent] = []
        self.underway: dict[Sent, None] = {}
        self.tries: dict[str, int] = {}
        self.awake: list[Machine] = []
        self.machines: list[Machine] = []
        self.readers: list[Any] = []

    # ── The run ─────────────────────────────────────────────────────────────────────────────────────────────
    def run(self, steps: int) -> None:
        """Let things happen, then let everything be answered, then ask everything again."""
        with self.simulated():
            skews = self.chance.choices((0, 0, 5, -3_000_000), k=self.chance.choice((1, 2, 2, 3)))
            self.machines = [Machine(self, skew) for skew in skews]
            self.readers = self.ledger.readers(self.fault, self.chance)
            try:
                for _ in range(steps):
                    self.step()
                self.drain()
                self.ask_again()
            finally:
                self.ledger.close()
                for machine in self.machines:
                    machine.store.close()

    @contextmanager
    def simulated(self) -> Iterator[None]:
        """Replace what is outside: time, randomness, the log."""
        time = SimpleNamespace(monotonic=lambda: self.monotonic, sleep=self.sleep)
        log = SimpleNamespace(warning=self.logged, error=self.logged, info=self.logged)
        with (
            mock.patch.object(writing, "time", time),
            mock.patch.object(writing, "RECOVERY_PAUSE_SECONDS", PAUSE_SECONDS),
            mock.patch.object(postgres, "time", time),
            mock.patch.object(rebuilds, "time", time),
            mock.patch.object(writing, "log", log),
            mock.patch("os.urandom", self.entropy.randbytes),
        ):
            yield

    def step(self) -> None:
        """Let one thing happen."""
        kinds = (self.send, self.deliver, self.write, self.tick, self.die, self.job, self.fail, self.read)
        self.chance.choices(
            kinds, (9, 10, 9, 2, 0.3 if self.faults else 0, 0.5, 0.2 if self.faults else 0, 1)
        )[0]()

    def send(self) -> None:
        """A client sends something new, or its last key with another body."""
        command = self.play.next()
        key = f"key-{self.play.number}"
        if self.chance.random() < 0.02:
            key = f"key-{self.chance.randint(1, self.play.number)}"
        asked = fingerprint("POST", "/", hashlib.sha256(repr(command).encode()).digest())
        sent = Sent(Submission(command_id("tests", key), asked, command, "tester"))
        self.all.append(sent)
        self.network.append(sent)

    def deliver(self) -> None:
        """The network brings something to some machine; at times it brings it again later."""
        if not self.network:
            return
        at = self.chance.randrange(len(self.network))
        sent = self.network[at]
        if self.chance.random() < 0.9:
            self.network.pop(at)
        machine = self.chance.choice(self.machines)
        future: Future[Result] = Future()
        self.oracle.sent(sent.submission)
        sent.underway.append((machine, future))
        self.underway[sent] = None
        machine.writer._put(sent.submission, future)
        self.steps.append(f"deliver {sent.submission.command}")

    def write(self) -> None:
        """Some writer takes a step."""
        busy = [machine for machine in self.machines if machine.busy]
        if busy:
            self.write_at(self.chance.choice(busy))

    def write_at(self, machine: Machine) -> None:
        """One writer takes a step, during which it may die."""
        self.steps.append(f"write at {self.machines.index(machine)}")
        self.awake.append(machine)
        until = self.monotonic + WAIT_SECONDS_MAX
        try:
            machine.writer._step()
        except Crash:
            self.replace(machine)
        finally:
            self.awake.remove(machine)
        require(self.monotonic <= until, "clients were kept waiting")
        self.hear()

    def tick(self) -> None:
        """Time passes, at times a lot, at times backwards."""
        ticked = self.chance.choices(TICKS_US, TICK_WEIGHTS)[0]
        self.now_us += ticked
        self.passed(ticked)

    def passed(self, microseconds: int) -> None:
        """What is wrong with the database goes by."""
        tries = max(int(microseconds / 1_000_000 / PAUSE_SECONDS), 0)
        self.outage, self.full = max(self.outage - tries, 0), max(self.full - tries, 0)

    def die(self) -> None:
        """A process dies between two steps."""
        self.replace(self.chance.choice(self.machines))

    def replace(self, machine: Machine) -> None:
        """What a dead process had in memory is gone; who waited for it sends again, to somebody else."""
        self.steps.append(f"machine {self.machines.index(machine)} dies")
        machine.store.close()
        self.machines[self.machines.index(machine)] = Machine(self, machine.skew_us)
        for sent in list(self.underway):
            left = [(m, f) for m, f in sent.underway if m is not machine or f.done()]
            if len(left) < len(sent.underway) and not sent.answered and sent not in self.network:
                self.network.append(sent)
            sent.underway = left
            if not left:
                del self.underway[sent]

    def fail(self) -> None:
        """The database cannot be reached for a while, or it answers and takes nothing."""
        for_so_many = self.chance.choice((2, 5, 200))
        what = self.chance.choice(("outage", "full"))
        setattr(self, what, for_so_many)
        self.steps.append(f"{what} {for_so_many}")

    def sleep(self, seconds: float) -> None:
        """A writer waits for its database: meanwhile time passes, and the others go on."""
        self.monotonic += seconds
        self.now_us += int(seconds * 1_000_000)
        self.passed(int(seconds * 1_000_000))
        others = [machine for machine in self.machines if machine.busy and machine not in self.awake]
        if others and self.chance.random() < 0.5:
            self.write_at(self.chance.choice(others))
        else:
            self.deliver()

    def read(self) -> None:
        """Whatever reads the ledger goes on a little."""
        for reader in self.readers:
            reader.step()

    def job(self) -> None:
        """What the ledger does by itself: time-outs, and rounds left half settled."""
        due, unsettled = self.ledger.to_do(self.now_us)
        for round_id, deadline_us in due:
            occasion = f"timeout:{round_id}:{deadline_us}"
            self.occasion(
                occasion,
                own_submission(c.TimeOutRound(round_id), f"{occasion}:{self.tries.get(occasion, 0)}"),
            )
        for round_id, version in unsettled:
            self.occasion(f"continue:{round_id}:{version}", continuation(round_id, version))

    def occasion(self, name: str, submission: Submission) -> None:
        """Send a job's command, unless it is on its way already."""
        if any(sent.submission.id == submission.id and not sent.answered for sent in self.all):
            return
        self.tries[name] = self.tries.get(name, 0) + 1
        self.all.append(Sent(submission))
        self.network.append(self.all[-1])

    # ── Failures ────────────────────────────────────────────────────────────────────────────────────────────
    def fault(self, step: str) -> str:
        """Say what goes wrong with a step of a store: empty where nothing does."""
        if self.outage or (self.full and step in ("commit", "project")):
            return "lost"
        if self.chance.random() >= self.faults:
            return ""
        fault = self.chance.choice(FAULTS)
        if fault == "refused" and step != "commit":
            return ""
        self.steps.append(f"{step}: {fault}")
        return fault

    def cut(self, statements: int) -> int | None:
        """Say after how many of a trip's statements its connection ends; None: it holds."""
        if self.outage or self.chance.random() >= self.faults:
            return None
        found = self.chance.randint(0, statements)
        self.steps.append(f"cut after {found} of {statements} statements")
        return found

    def logged(self, event: str, **more: Any) -> None:
        """The writer logs no defect, and no refusal that was not the seed's."""
        require(event not in ("batch_failed", "command_failed"), f"{event}: {more}")
        if event in ("batch_refused", "command_refused"):
            require("by the seed" in more["reason"], f"{event}: {more}")

    # ── Answers ──────────────────────────────────────────────────────────────────────
    def hear(self) -> None:
        """Take the answers that have come; some of them never reach their client, who asks again."""
        for sent in list(self.underway):
            done = [future for _, future in sent.underway if future.done()]
            if not done:
                continue
            sent.underway = [(m, f) for m, f in sent.underway if not f.done()]
            if not sent.underway:
                del self.underway[sent]
            for future in done:
                if self.oracle.right(sent.submission, ended(future)) and (
                    not self.faults or self.chance.random() < 0.9
                ):
                    sent.answered = True
            if not sent.answered and not sent.underway and sent not in self.network:
                self.network.append(sent)

    # ── The end ─────────────────────────────────────────────────────────────────────────────────────────────
    def drain(self) -> None:
        """Nothing fails any more: everything that was sent is answered."""
        self.faults, self.outage, self.full = 0.0, 0, 0
        for _ in range(DRAIN_STEPS_MAX):
            if self.network:
                self.deliver()
            busy = [machine for machine in self.machines if machine.busy]
            if busy:
                self.write_at(self.chance.choice(busy))
            elif not self.network:
                break
        require(all(sent.answered for sent in self.all), "a command was never answered")
        for reader in self.readers:
            reader.end(self.ledger.position)
        self.ledger.check_read_side(self.model)

    def ask_again(self) -> None:
        """Every command once more, at a machine that knows nothing: each has its first answer."""
        before = len(self.oracle.records)
        machine = Machine(self, 0)
        again = self.chance.sample(self.all, len(self.all))
        futures: list[Future[Result]] = []
        for sent in again:
            futures.append(Future())
            machine.writer._put(sent.submission, futures[-1])
        while machine.busy:
            machine.writer._step()
        for sent, future in zip(again, futures, strict=True):
            self.oracle.right(sent.submission, ended(future))
            require(
                future.exception() is not None or future.result().replayed,
                "a repeat was told to be the first",
            )
        require(len(self.oracle.records) == before, "a repeat was taken for something new")
        machine.store.close()
