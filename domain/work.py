"""What deciding works on: the ledger's state as of the last event, and the events that come of it.

A `Work` belongs to one writer. Its books (wallets, meters, tables, rounds) change only by `emit`, which folds
the event and posts its legs, so that what is in memory is always what the events say. A handler checks
everything first and emits after: a rejected command has emitted nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from domain import events as ev
from domain.jackpots import Jackpot
from domain.money import EXACT
from domain.postings import DIVERSION, JACKPOT, ON_GAME, OVERFLOW, WALLET, legs
from domain.registers import Approval, AuditState, LogState, Person, SoftwareState
from domain.rejections import Rejection
from domain.round import Round, evolve
from domain.rules import Rules, compile_rules
from domain.rulesets.schema import RuleSet
from domain.shuffle import ALGORITHM, SEED_BYTES, Shuffle, commitment

RNG: Final = "hmac-drbg-sha256"


@dataclass(slots=True)
class Wallet:
    """A player's money, minor units. `unfinished` maps table id → the player's open round there."""

    player: str
    player_id: str | None
    currency: str
    account_class: ev.AccountClass
    version: int = 0
    balance: int = 0
    on_game: int = 0
    unfinished: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Table:
    """A table.

    `places` maps joined players to their seat (or None); `open_round` is the one open round of a table
    that has one at a time.
    """

    table_id: str
    ruleset: ev.RulesetRef
    currency: str
    account_class: ev.AccountClass
    deal_source: ev.DealSource
    parallel_rounds: bool
    parameters: ev.TableParameters
    jackpot_id: str | None
    open: bool = True
    version: int = 1
    places: dict[str, int | None] = field(default_factory=dict)
    open_round: str | None = None


class PublishedRuleset(NamedTuple):
    """A published version of a rule set."""

    ref: ev.RulesetRef
    ruleset: RuleSet
    document: dict[str, Any]


class Secret:
    """An open round's seed and the deck that follows from it. Says nothing of itself when printed."""

    __slots__ = ("_deck", "seed")

    def __init__(self, seed: bytes) -> None:
        self.seed = seed
        self._deck: Shuffle | None = None

    def commitment(self, round_id: str, ruleset_sha256: str) -> str:
        """The commitment to the seed, hex."""
        return commitment(self.seed, round_id, ruleset_sha256)

    def cards(self, round_: Round, count: int) -> tuple[str, ...]:
        """The first `count` cards of the round's deck.

        Ask only after betting has closed: client seeds are part of it.
        """
        if self._deck is None:
            seeds = {
                seat.seat: seat.client_seed for seat in round_.seats.values() if seat.client_seed is not None
            }
            self._deck = Shuffle(self.seed, round_.id, round_.opened.ruleset.sha256, seeds)
        return self._deck.first(count)

    def __repr__(self) -> str:
        return "Secret(…)"


class Emitted(NamedTuple):
    """An event in its place, not yet stored. `recorded_at_us` in microseconds since the epoch."""

    position: int
    recorded_at_us: int
    stream: str
    version: int
    event: ev.Event
    meta: dict[str, Any]


class Transfer(NamedTuple):
    """A cashier's transfer that happened: its amount and the answer it got."""

    amount: int
    answer: dict[str, Any]


@dataclass(slots=True)
class Work:
    """The books a writer decides on. `entropy` gives random bytes for decks; `build` names the software.

    `settle_seats_max` bounds how many seats one command settles or refunds; a larger round goes on with
    the next. Without `answers` commands on rounds are answered with nothing: who fills a ledger has nobody
    that waits for them.

    `person` and `scopes` say who sent the command that is being decided: the registered person whose own
    credential it came with, or None, and what the token allows. `approvals` has all that are open, `audits`
    all that run. `checkpoint` is the evidence log's newest, as answers show it ({size, root}), if there is.
    """

    entropy: Callable[[int], bytes]
    build: str
    settle_seats_max: int = 500
    answers: bool = True
    position: int = 0
    recorded_at_us: int = 0
    now_us: int = 0
    command: str = ""
    person: str | None = None
    scopes: frozenset[str] = frozenset()
    meta: dict[str, Any] = field(default_factory=dict)
    wallets: dict[str, Wallet] = field(default_factory=dict)
    players: dict[str, str] = field(default_factory=dict)
    tables: dict[str, Table] = field(default_factory=dict)
    jackpots: dict[str, Jackpot] = field(default_factory=dict)
    rulesets: dict[str, dict[int, PublishedRuleset]] = field(default_factory=dict)
    rounds: dict[str, Round] = field(default_factory=dict)
    people: dict[str, Person] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    software: SoftwareState = field(default_factory=SoftwareState)
    log: LogState = field(default_factory=LogState)
    audits: dict[str, AuditState] = field(default_factory=dict)
    checkpoint: dict[str, Any] | None = None
    secrets: dict[str, Secret] = field(default_factory=dict)
    deadlines: dict[str, int] = field(default_factory=dict)
    transfers: dict[tuple[str, str, str], Transfer] = field(default_factory=dict)
    shown: dict[str, str] = field(default_factory=dict)
    compiled: dict[tuple[Any, ...], Rules] = field(default_factory=dict)
    emitted: list[Emitted] = field(default_factory=list)
    touched_wallets: set[str] = field(default_factory=set)
    touched_tables: set[str] = field(default_factory=set)
    touched_jackpots: set[str] = field(default_factory=set)
    touched_rounds: set[str] = field(default_factory=set)
    touched_registers: set[str] = field(default_factory=set)
    new_transfers: dict[tuple[str, str, str], Transfer] = field(default_factory=dict)
    new_rulesets: list[PublishedRuleset] = field(default_factory=list)
    accounts: dict[tuple[str, str], int] = field(default_factory=dict)

    # ── Looking up ──────────────────────────────────────────────────────────────────────────────────────────
    def wallet_of(self, player_id: str) -> Wallet:
        """The wallet the operator calls `player_id`; rejects with player_not_found."""
        player = self.players.get(player_id)
        if player is None:
            raise Rejection("player_not_found", f"There is no player {player_id}.")
        return self.wallets[player]

    def table(self, table_id: str) -> Table:
        """A table; rejects with table_not_found."""
        table = self.tables.get(table_id)
        if table is None:
            raise Rejection("table_not_found", f"There is no table {table_id}.")
        return table

    def jackpot(self, jackpot_id: str) -> Jackpot:
        """A jackpot; rejects with jackpot_not_found."""
        jackpot = self.jackpots.get(jackpot_id)
        if jackpot is None:
            raise Rejection("jackpot_not_found", f"There is no jackpot {jackpot_id}.")
        return jackpot

    def round(self, round_id: str) -> Round:
        """A round; rejects with round_not_found."""
        found = self.rounds.get(round_id)
        if found is None:
            raise Rejection("round_not_found", f"There is no round {round_id}.")
        return found

    def ruleset(self, ruleset_id: str, version: int | None = None) -> PublishedRuleset:
        """A published rule set, the newest version where none is named; rejects with ruleset_not_found."""
        versions = self.rulesets.get(ruleset_id)
        found = versions and versions.get(max(versions) if version is None else version)
        if not found:
            named = ruleset_id if version is None else f"{ruleset_id} version {version}"
            raise Rejection("ruleset_not_found", f"There is no published rule set {named}.")
        return found

    def rules(
        self, ref: ev.RulesetRef, currency: str, parameters: ev.TableParameters, *, has_jackpot: bool
    ) -> Rules:
        """A rule set compiled for a currency and a table's parameters.

        Raises RulesError where they do not fit.
        """
        key = (ref.id, ref.version, currency, parameters, has_jackpot)
        rules = self.compiled.get(key)
        if rules is None:
            ruleset = self.rulesets[ref.id][ref.version].ruleset
            rules = compile_rules(ruleset, ref, currency, parameters, has_jackpot=has_jackpot)
            self.compiled[key] = rules
        return rules

    def rules_of(self, round_: Round) -> Rules:
        """The rules a round was opened on (G7)."""
        opened = round_.opened
        return self.rules(
            opened.ruleset, opened.currency, opened.parameters, has_jackpot=opened.jackpot is not None
        )

    def new_secret(self) -> Secret:
        """Fresh seed material for a round's deck."""
        return Secret(self.entropy(SEED_BYTES))

    # ── Changing ────────────────────────────────────────────────────────────────────────────────────────────
    def next_recorded_at_us(self) -> int:
        """When the next event will have been recorded: now, but after the last one."""
        return max(self.recorded_at_us + 1, self.now_us)

    def emit(self, stream: str, version: int, event: ev.Event) -> None:
        """Put an event next in the ledger and post its legs.

        The caller folds it into what it belongs to; rounds use `emit_round`.
        """
        self.position += 1
        self.recorded_at_us = self.next_recorded_at_us()
        meta = self.meta
        shown = self.shown.pop(stream, None)
        if shown is not None:
            meta = {**meta, "shown": shown}
        self.emitted.append(Emitted(self.position, self.recorded_at_us, stream, version, event, meta))
        for account, owner, amount in legs(event):
            self._post(account, owner, amount)

    def emit_round(self, round_id: str, event: ev.Event) -> None:
        """Put an event next in a round's stream and fold it."""
        stream = f"round-{round_id}"
        state = self.rounds.get(round_id)
        self.emit(stream, 1 if state is None else state.version + 1, event)
        self.rounds[round_id] = evolve(state, stream, event, self.command)
        self.touched_rounds.add(round_id)

    def _post(self, account: str, owner: str, amount: int) -> None:
        if account == WALLET:
            wallet = self.wallets[owner]
            wallet.balance += amount // EXACT
            self.touched_wallets.add(owner)
        elif account == ON_GAME:
            self.wallets[owner].on_game += amount // EXACT
            self.touched_wallets.add(owner)
        elif account == JACKPOT:
            jackpot = self.jackpots[owner]
            jackpot.meter += amount
            jackpot.moved_at = self.position
            self.touched_jackpots.add(owner)
        elif account == OVERFLOW:
            self.jackpots[owner].overflow += amount
            self.touched_jackpots.add(owner)
        elif account == DIVERSION:
            self.jackpots[owner].diverted += amount
            self.touched_jackpots.add(owner)
        else:
            kind, _, name = self.emitted[-1].stream.partition("-")
            source = (
                self.rounds[name].opened
                if kind == "round"
                else self.wallets[name]
                if kind == "wallet"
                else self.jackpots[name]
            )
            # The house or the cashier. Test accounts have their own, so that no report has to take them out.
            key = (f"{account}:{source.account_class}", source.currency)
            self.accounts[key] = self.accounts.get(key, 0) + amount


def deck_pins() -> dict[str, str]:
    """What `RoundOpened` says of how the deck comes about."""
    return {"deck_algorithm": ALGORITHM, "rng": RNG}
