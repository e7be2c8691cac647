"""Whether what the ledger did is what the naive model does: at every commit, and of every answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import orjson

from domain import commands as c
from infrastructure.ledger.submission import (
    ACCEPTED,
    Outcome,
    Result,
    Reused,
    Submission,
    command_name,
    continuation,
)

if TYPE_CHECKING:
    from infrastructure.ledger.store import Changes
    from tests.property.deterministic.naive_model import Model
    from tests.property.deterministic.simulated_ledgers import SimulatedLedger


class Violation(BaseException):
    """What must hold does not. No part of the ledger can catch it."""


def require(holds: object, what: str) -> None:
    """Raise Violation where something does not hold."""
    if not holds:
        raise Violation(what)


class Oracle:
    """Holds a ledger against a model. `steps` is the world's diary.

    `known` are the commands that were sent, by id and fingerprint; `records` what became of those that
    happened, by id: fingerprint, outcome, answer, position.
    """

    def __init__(self, ledger: SimulatedLedger, model: Model, steps: list[str]) -> None:
        self.ledger, self.model, self.steps = ledger, model, steps
        self.known: dict[tuple[bytes, bytes], Submission] = {}
        self.records: dict[bytes, tuple[bytes, int, bytes, int]] = {}
        self._continuations: dict[tuple[str, int], Submission] = {}

    def sent(self, submission: Submission) -> None:
        """Learn of a command."""
        self.known[submission.id, submission.fingerprint] = submission

    # ── Every commit ────────────────────────────────────────────────────────────────────────────────────────
    def committed(self, changes: Changes, decided_us: int) -> None:
        """Hold a commit against the model; `decided_us` is what its writer's clock said."""
        try:
            self._check_commit(changes, decided_us)
        except AssertionError as error:
            raise Violation(str(error)) from error

    def _check_commit(self, changes: Changes, decided_us: int) -> None:
        """What was accepted, what was not and why, and all that is in the rows."""
        events = self.ledger.heard(changes.events)
        accepted = set()
        for event in events:
            self._learn_cards(event)
        for record in changes.commands:
            require(record.id not in self.records, "a command has happened twice")
            submission = self.known.get((record.id, record.fingerprint)) or self._continued(record.id)
            why = self.model.decide(submission.command, decided_us)
            body = orjson.loads(record.body)
            said = "accepted" if record.outcome == ACCEPTED else body["code"]
            self.steps.append(f"  {submission.command} {said} at {record.position}")
            expected = said in why if why else said == "accepted"
            require(expected, f"{submission.command} was {said}, not {why or 'accepted'}")
            if not why:
                accepted.add(command_name(record.id))
                self._check_answer(submission.command, body)
            self.records[record.id] = (record.fingerprint, record.outcome, record.body, record.position)
        writers = {event["meta"]["command"] for event in events} - {"clock"}
        require(writers <= accepted, "an event without a command that was accepted")
        self.ledger.check_rows(self.model)

    def _continued(self, id_: bytes) -> Submission:
        """Return the continuation with that id: the writers make those by themselves."""
        for round_id in self.model.rounds:
            version = self.ledger.versions[f"round-{round_id}"]
            while version and (round_id, version) not in self._continuations:
                made = self._continuations[round_id, version] = continuation(round_id, version)
                self.sent(made)
                version -= 1
        found = [made for made in self._continuations.values() if made.id == id_]
        require(found, "a command that nobody sent")
        return found[0]

    def _learn_cards(self, event: dict[str, Any]) -> None:
        data = event["data"]
        cards = self.model.cards.setdefault(event["stream"].removeprefix("round-"), {})
        if event["type"] == "Dealt":
            cards["up" if data["to"] == "dealer" else data["seat"]] = data["cards"]
        elif event["type"] == "DealerQualified":
            cards["dealer"] = data["cards"]

    def _check_answer(self, command: c.Command, body: dict[str, Any]) -> None:
        """An answer says what the model knows of it."""
        if isinstance(command, c.Deposit | c.Withdraw):
            way = "in" if isinstance(command, c.Deposit) else "out"
            first = self.model.transfers[command.player_id, way, command.reference][1]
            require(body == first, f"{command} was answered {body}, not {first}")
        round_ = self.model.rounds.get(getattr(command, "round_id", ""))
        if round_ is not None and round_["phase"] in ("betting", "dealt", "closed", "voided"):
            require(body["phase"] == round_["phase"], f"{command} was answered {body['phase']}")

    # ── Every answer ────────────────────────────────────────────────────────────────────────────────────────
    def right(self, submission: Submission, outcome: Outcome | BaseException | None) -> bool:
        """Check an answer: it is the first one, byte for byte. False where it only says to try again."""
        record = self.records.get(submission.id)
        what = f"{submission.command} was answered {outcome}"
        if isinstance(outcome, Reused):
            require(record and record[0] != submission.fingerprint, f"{what}, and its record is {record}")
            return True
        if not isinstance(outcome, Result):
            return False
        found = (submission.fingerprint, outcome.outcome, outcome.body, outcome.position)
        require(found == record, f"{what}, and its record is {record}")
        return True
