"""A writer's memory between batches.

The books are what deciding works on, and how far they are known to be true. Another process may have written
in between: what may have changed since is read again, under the lock, and only that.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Final

import orjson

from domain.commands import Command
from domain.handlers import players_touched, reads
from domain.registers import AUDIT
from domain.round import Round, evolve
from domain.views import WHOLE_SEATS_MAX
from domain.work import Secret, Transfer, Work
from infrastructure.ledger import bookkeeping, registers
from infrastructure.ledger.store import FirstAnswer, FirstReading, Store, StoreLost, WalletRow
from infrastructure.ledger.stored_form import decode
from infrastructure.ledger.submission import Submission
from infrastructure.seals import Seals

WALLETS_CACHED_MAX: Final = 50_000
ROUNDS_CACHED_MAX: Final = 20_000
COMPILED_MAX: Final = 2_000
QUIET_BATCHES_MIN: Final = 8
"""For so many batches nobody else must have written before deciding ahead is worth its risk.

What does not hold costs the whole memory.
"""


class Books:
    """The domain's books as one writer knows them.

    `known_position` is the head as this writer left it; where the head has moved since, another process
    wrote, at `foreign_at` at the latest. `checked_at` says up to which position each round in memory is
    known; one that was last looked at before `foreign_at` is read on from there. `sealed` holds the
    encrypted seeds of the open rounds in memory. `behind_us` is how far the clock was behind the ledger,
    `quiet_batches` for how many batches nobody else has written.
    """

    def __init__(self, build: str, settle_seats_max: int) -> None:
        self._build = build
        self._settle_seats_max = settle_seats_max
        self.forget()

    def forget(self) -> None:
        """Drop everything: the next batch reads it again."""
        self.work = Work(os.urandom, self._build, self._settle_seats_max)
        self.sealed: dict[str, bytes | None] = {}
        self.checked_at: dict[str, int] = {}
        self.known_position = 0
        self.foreign_at = 0
        self.behind_us = 0
        self.quiet_batches = 0

    # ── Before a batch ──────────────────────────────────────────────────────────────────────────────────────
    def reading(self, submissions: Sequence[Submission]) -> FirstReading:
        """What has to be read for these commands, beside what is here."""
        work = self.work
        player_ids: dict[str, None] = {}
        cached: dict[str, int] = {}
        new: dict[str, None] = {}
        transfers = []
        named: dict[str, None] = {}
        known_position = self.known_position
        for submission in submissions:
            wanted = reads(submission.command)
            for player_id in wanted.player_ids:
                if player_id not in work.players:
                    player_ids[player_id] = None
            if wanted.round_id is not None:
                known = work.rounds.get(wanted.round_id)
                if known is None:
                    new[wanted.round_id] = None
                else:
                    cached[wanted.round_id] = known.version
                    checked_at = self.checked_at.get(wanted.round_id, 0)
                    if checked_at < self.foreign_at:
                        known_position = min(known_position, checked_at)
            if wanted.transfer is not None:
                transfers.append(wanted.transfer)
            if wanted.approval is not None and wanted.approval not in work.approvals:
                named[registers.APPROVAL + wanted.approval] = None
            if wanted.audit is not None and wanted.audit not in work.audits:
                named[AUDIT + wanted.audit] = None
        ids = [submission.id for submission in submissions]
        return FirstReading(known_position, ids, cached, list(new), list(player_ids), transfers, list(named))

    def suffice(self, submissions: Sequence[Submission], reading: FirstReading) -> bool:
        """Whether these commands can be decided on what is here, without reading."""
        if reading.new_rounds or reading.player_ids or reading.transfers or reading.registers:
            return False
        if self.quiet_batches < QUIET_BATCHES_MIN or reading.known_position != self.known_position:
            return False  # another process may write before us, or a round in memory is behind
        return all(player in self.work.wallets for player in self._players_of_rounds(submissions))

    def refresh(
        self, submissions: Sequence[Submission], answer: FirstAnswer, store: Store, seals: Seals
    ) -> None:
        """Bring the books up to the head.

        Raises StoreLost where the ledger is behind what was read from it: another, older one is answering,
        and nothing here is true of it.
        """
        work = self.work
        if answer.position < self.known_position:
            raise StoreLost(f"the ledger is at {answer.position} and was at {self.known_position}")
        moved = answer.position != self.known_position
        self.quiet_batches = 0 if moved else self.quiet_batches + 1
        if moved:
            self.foreign_at = answer.position
            work.wallets.clear()
            work.players.clear()
        work.position, work.recorded_at_us = answer.position, answer.recorded_at_us
        for table in answer.tables:
            work.tables[table.table_id] = bookkeeping.table_from(table)
        for jackpot in answer.jackpots:
            work.jackpots[jackpot.jackpot_id] = bookkeeping.jackpot_from(jackpot)
        for row in answer.rulesets:
            published = bookkeeping.ruleset_from(row)
            work.rulesets.setdefault(row.ruleset_id, {})[row.version] = published
        for register in answer.registers:
            registers.learn(work, register)
        for wallet in answer.wallets:
            self._learn_wallet(wallet)
        self._refresh_rounds(answer, seals)
        self._read_wallets(submissions, store, moved=moved)
        work.transfers = {
            (row.player, row.direction, row.reference): Transfer(row.amount, orjson.loads(row.answer))
            for row in answer.transfers
        }

    def _learn_wallet(self, row: WalletRow) -> None:
        self.work.wallets[row.player] = bookkeeping.wallet_from(row)
        if row.player_id is not None:
            self.work.players[row.player_id] = row.player

    def _refresh_rounds(self, answer: FirstAnswer, seals: Seals) -> None:
        work = self.work
        for round_id, stored in answer.events.items():
            stream = f"round-{round_id}"
            state: Round | None = work.rounds.get(round_id)
            for data in stored:
                recorded = decode(data)
                if state is not None and recorded.version <= state.version:
                    continue
                if state is None and recorded.version > 1:
                    break  # the round's beginning is archived: it ended long ago
                state = evolve(state, stream, recorded.event, recorded.meta["command"])
            if state is not None:
                work.rounds[round_id] = state
        for round_id, row in answer.open_rounds.items():
            self.sealed[round_id] = row.sealed
            if row.deadline_us is None:
                work.deadlines.pop(round_id, None)
            else:
                work.deadlines[round_id] = row.deadline_us
            if row.answer_sha256 is not None:
                work.shown[f"round-{round_id}"] = row.answer_sha256
            if row.sealed is not None and round_id not in work.secrets:
                work.secrets[round_id] = Secret(seals.open(round_id, row.sealed))

    def _read_wallets(self, submissions: Sequence[Submission], store: Store, *, moved: bool) -> None:
        """Read the wallets of the batch's rounds, and its players' where memory is out of date."""
        work = self.work
        players = self._players_of_rounds(submissions)
        missing = [player for player in players if player not in work.wallets]
        player_ids: list[str] = []
        if moved:
            player_ids = [
                p for s in submissions for p in reads(s.command).player_ids if p not in work.players
            ]
        if missing or player_ids:
            for row in store.read_wallets(missing, player_ids):
                self._learn_wallet(row)

    def _players_of_rounds(self, submissions: Sequence[Submission]) -> set[str]:
        """The players whose wallets these commands may touch or show, by the rounds they are on."""
        work = self.work
        by_round: dict[str, list[Command]] = {}
        for submission in submissions:
            round_id = reads(submission.command).round_id
            if round_id is not None and round_id in work.rounds:
                by_round.setdefault(round_id, []).append(submission.command)
        players: set[str] = set()
        seats_max = max(work.settle_seats_max, WHOLE_SEATS_MAX)  # an answer names the players of all it shows
        for round_id, commands in by_round.items():
            players |= players_touched(work.rounds[round_id], commands, seats_max)
        return players

    # ── After a batch ───────────────────────────────────────────────────────────────────────────────────────
    def remember(self, reading: FirstReading) -> None:
        """A batch has ended: the books are true up to its last position, and nothing of it is left over."""
        work = self.work
        self.known_position = work.position
        for round_id in work.touched_rounds.union(reading.cached_rounds, reading.new_rounds):
            round_ = work.rounds.get(round_id)
            if round_ is not None and round_.finished:
                self._drop_round(round_id)
            elif round_ is not None:
                self.checked_at[round_id] = work.position
        work.emitted = []
        work.accounts = {}
        work.touched_wallets = set()
        work.touched_tables = set()
        work.touched_jackpots = set()
        work.touched_rounds = set()
        work.touched_registers = set()
        work.new_transfers = {}
        work.new_rulesets = []
        work.transfers = {}
        if work.approvals or work.audits:
            self._drop_decided()
        self._trim()

    def _drop_decided(self) -> None:
        """Forget approvals and audits that are no longer open: one that is named again is read again."""
        approvals = self.work.approvals
        for approval_id in [a.approval_id for a in approvals.values() if a.status != "proposed"]:
            del approvals[approval_id]
        audits = self.work.audits
        for run_id in [audit.run_id for audit in audits.values() if audit.verdict is not None]:
            del audits[run_id]

    def _trim(self) -> None:
        """Keep memory bounded; what is dropped is read again when it is needed."""
        work = self.work
        if len(work.wallets) > WALLETS_CACHED_MAX:
            work.wallets.clear()
            work.players.clear()
        if len(work.compiled) > COMPILED_MAX:
            work.compiled.clear()
        while len(work.rounds) > ROUNDS_CACHED_MAX:
            self._drop_round(next(iter(work.rounds)))

    def _drop_round(self, round_id: str) -> None:
        """Forget one round and its secret."""
        work = self.work
        work.rounds.pop(round_id, None)
        work.secrets.pop(round_id, None)
        work.deadlines.pop(round_id, None)
        work.shown.pop(f"round-{round_id}", None)
        self.sealed.pop(round_id, None)
        self.checked_at.pop(round_id, None)
