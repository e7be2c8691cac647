"""A ledger in miniature for tests: commands in, events out, over the domain's own books and handlers.

It does what a writer does around a decision (a command's name, the clock, taking the events away) and nothing
of what one decides. After each command the books' money is checked against the events (G1, G2). A refused
command must have emitted nothing and changed nothing, whatever it was (`Ledger.refused`).
"""

from __future__ import annotations

import contextlib
import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import pytest

import domain.rulesets
from domain import commands as c
from domain import events as ev
from domain import hands
from domain.handlers import HANDLERS
from domain.postings import ON_GAME, WALLET, legs
from domain.rejections import Rejection
from domain.round import Round, evolve
from domain.rulesets.schema import RuleSet, load
from domain.work import Emitted, Work

NOON = 1_790_942_400_000_000
"""2026-10-02 12:00 UTC, in microseconds."""
FUNDS = 10**9
CATEGORIES = [*map(str, hands.CATEGORIES)]
STANDARD = dict(zip(CATEGORIES, (1, 1, 2, 3, 4, 5, 7, 20, 50, 100), strict=True))

_Event = TypeVar("_Event")


def cards(text: str) -> tuple[str, ...]:
    """Return the cards of a text like ``"As Kd 4h"``."""
    return tuple(text.split())


def shipped(name: str) -> dict[str, Any]:
    """Return the document of a shipped house."""
    path = Path(domain.rulesets.__file__).parent / f"{name}.toml"
    return load(path.read_text(encoding="utf-8")).document()


def plain_house(**changes: Any) -> dict[str, Any]:
    """Return a house of the tests' own; `changes` replace parts, or merge where both are tables."""
    document: dict[str, Any] = {
        "id": "test-house",
        "title": "Test house",
        "source": "000",
        "currencies": ["USD", "EUR"],
        "seating": {"seats": 7},
        "deal": {"pattern": "block", "player_cards": "down", "dealer_up_indices": [0]},
        "play": {},
        "raise_pays": STANDARD,
        "names": {"ante": "Ante", "raise": "Bet", "fold": "Fold"},
    }
    for part, change in changes.items():
        merged = isinstance(change, dict) and isinstance(document.get(part), dict)
        document[part] = {**document[part], **change} if merged else change
    for bet in document.get("side_bets", ()):
        document["names"] = {**document["names"], bet["kind"]: bet["kind"]}
    if "exchange" in document:
        document["names"] = {**document["names"], "exchange": "Buy"}
    return document


def changed(name: str, **changes: Any) -> dict[str, Any]:
    """Return a shipped house with parts merged in, under the same id."""
    document = shipped(name)
    for part, change in changes.items():
        merged = isinstance(change, dict) and isinstance(document.get(part), dict)
        document[part] = {**document[part], **change} if merged else change
    return document


def jackpot_bet(awards: Mapping[str, Any], stake: str = "1", **fields: Any) -> dict[str, Any]:
    """Return a jackpot side bet with those awards."""
    return {"kind": "jackpot", "stake": stake, "basis": "for_1", "awards": dict(awards), **fields}


@dataclass
class Box:
    """One seat of a played round: its hand, its stakes, and what it does.

    `does` is ``raise``, ``fold``, or ``2c>Kd raise`` to buy a card first; `draws` alone for `rng` rounds.
    """

    hand: str = ""
    does: str = "raise"
    ante: int = 10_000
    side_bets: Mapping[str, int] = field(default_factory=dict)
    player: str | None = None


@dataclass
class Ledger:
    """The books and everything that happened. `now_us` is the clock; `events` all events so far.

    `actor`, `person` and `scopes` say who asks: with a service token, unless `acting` says otherwise.
    """

    settle_seats_max: int = 500
    now_us: int = NOON
    events: list[Emitted] = field(default_factory=list)
    commands: int = 0
    rounds_opened: int = 0
    actor: str = "tests"
    person: str | None = None
    scopes: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        """Begin the ledger."""
        self._drawn = 0
        self.by_round: dict[str, list[Emitted]] = {}
        self.work = Work(self._entropy, "test-build", self.settle_seats_max)
        self.ask(c.StartLedger(demo=True))

    def _entropy(self, count: int) -> bytes:
        self._drawn += 1
        return hashlib.shake_256(b"%d" % self._drawn).digest(count)

    # ── Asking ──────────────────────────────────────────────────────────────────────────────────────────
    def ask(self, command: c.Command) -> dict[str, Any]:
        """Have a command decided; return its answer. What it emitted is in `last`."""
        work = self.work
        self.commands += 1
        work.now_us = self.now_us
        work.command = f"command-{self.commands}"
        work.meta = {"actor": self.actor, "command": work.command, "schema": 1}
        work.person, work.scopes = self.person, self.scopes
        money = self._money()
        try:
            answer = HANDLERS[type(command)](command, work)
        finally:
            self.last, work.emitted = work.emitted, []
            self.events += self.last
            for emitted in self.last:
                if emitted.stream.startswith("round-"):
                    self.by_round.setdefault(emitted.stream.removeprefix("round-"), []).append(emitted)
        self._check_money(money)
        return answer

    def refused(self, command: c.Command, code: str) -> Rejection:
        """Have a command refused with that code, and check that nothing at all has changed."""
        before = self.books()
        with pytest.raises(Rejection) as caught:
            self.ask(command)
        assert caught.value.code == code, f"{caught.value.code}: {caught.value.detail}"
        assert self.last == []
        assert self.books() == before
        return caught.value

    def books(self) -> str:
        """Return all that the books hold, as text to compare."""
        w = self.work
        secrets = {round_id: secret.seed.hex() for round_id, secret in w.secrets.items()}
        state = (w.wallets, w.players, w.tables, w.jackpots, w.rounds, w.deadlines, w.transfers, w.accounts)
        versions = {name: sorted(held) for name, held in w.rulesets.items()}
        registers = (w.people, w.approvals, w.software, w.log, w.audits)
        return repr((w.position, w.recorded_at_us, w.shown, secrets, versions, *state, *registers))

    @contextlib.contextmanager
    def acting(self, actor: str, *scopes: str, person: bool = True) -> Iterator[None]:
        """Ask as a person, with their own credential, or else with a service token of that name."""
        before = self.actor, self.person, self.scopes
        self.actor, self.person, self.scopes = actor, actor if person else None, frozenset(scopes)
        yield
        self.actor, self.person, self.scopes = before

    def _money(self) -> Counter[tuple[str, str]]:
        wallets = self.work.wallets.values()
        held = Counter({(WALLET, w.player): w.balance for w in wallets})
        held.update({(ON_GAME, w.player): w.on_game for w in wallets})
        return held

    def _check_money(self, before: Counter[tuple[str, str]]) -> None:
        """The wallets moved by exactly the legs of what was emitted, and no balance is what no event said."""
        for emitted in self.last:
            posted = legs(emitted.event)
            assert sum(leg.amount for leg in posted) == 0
            for leg in posted:
                if leg.account in (WALLET, ON_GAME):
                    assert leg.amount % 10_000 == 0
                    before[leg.account, leg.owner] += leg.amount // 10_000
            said = getattr(emitted.event, "balance_after", None)
            if said is not None:
                assert said == before[WALLET, emitted.event.player] >= 0  # type: ignore[union-attr]
        assert self._money() == before

    def tick(self, seconds: float) -> None:
        """Let the clock run."""
        self.now_us += int(seconds * 1_000_000)

    # ── Finding ─────────────────────────────────────────────────────────────────────────────────────────
    def of(self, round_id: str, kind: type[_Event]) -> list[_Event]:
        """Return a round's events of one kind, in order."""
        return [e.event for e in self.by_round.get(round_id, ()) if isinstance(e.event, kind)]

    def kinds(self, round_id: str) -> list[str]:
        """Return the names of a round's events, in order."""
        return [type(e.event).__name__ for e in self.by_round[round_id]]

    def wallet(self, player_id: str) -> tuple[int, int]:
        """Return what a player holds and has on game."""
        wallet = self.work.wallet_of(player_id)
        return wallet.balance, wallet.on_game

    def meter(self, jackpot_id: str = "pot") -> int:
        """Return a meter in whole minor units; it must hold no fraction."""
        whole, fraction = divmod(self.work.jackpots[jackpot_id].meter, 10_000)
        assert fraction == 0
        return whole

    def round(self, round_id: str) -> Round:
        """Return a round's state, which must be what its events fold to."""
        folded: Round | None = None
        for emitted in self.by_round[round_id]:
            folded = evolve(folded, emitted.stream, emitted.event, emitted.meta["command"])
        state = self.work.rounds[round_id]
        assert folded == state
        return state

    # ── Setting up ──────────────────────────────────────────────────────────────────────────────────────
    def house(self, document: str | Mapping[str, Any]) -> RuleSet:
        """Publish a house, by name or document."""
        found = shipped(document) if isinstance(document, str) else dict(document)
        self.ask(c.PublishRuleset(found))
        return RuleSet.from_document(found)

    def jackpot(
        self,
        reset: int,
        currency: str = "USD",
        contribution: str = "1",
        jackpot_id: str = "pot",
        **fields: Any,
    ) -> None:
        """Open a jackpot."""
        self.ask(c.OpenJackpot(jackpot_id, currency, reset, contribution, **fields))

    def table(self, document: str | Mapping[str, Any], table_id: str = "t", **fields: Any) -> None:
        """Open a table on a house, dealt by hand unless said otherwise; a jackpot `pot` is used if there."""
        ruleset = self.house(document)
        if ruleset.raise_cap is not None and ruleset.raise_cap.amount is None:
            fields.setdefault("raise_win_cap", 10**9)
        if any(bet.stake == "table" for bet in ruleset.side_bets):
            fields.setdefault("bonus_stake", 5_000)
        if ruleset.side_bet("jackpot") is not None and "pot" in self.work.jackpots:
            fields.setdefault("jackpot_id", "pot")
        defaults = {
            "currency": ruleset.currencies[0],
            "min_ante": 100,
            "max_ante": 10_000,
            "deal_source": "table",
            **fields,
        }
        self.ask(c.OpenTable(table_id=table_id, ruleset=ruleset.id, **defaults))

    def player(
        self,
        player_id: str,
        funds: int = FUNDS,
        currency: str = "USD",
        account_class: ev.AccountClass = "real",
    ) -> str:
        """Open a player with money, unless there is one."""
        if player_id not in self.work.players:
            self.ask(c.OpenPlayer(player_id, f"pseudonym-{player_id}", currency, account_class))
            if funds:
                self.ask(c.Deposit(player_id, funds, f"first-{player_id}", f"tx-{player_id}"))
        return player_id

    # ── Playing ─────────────────────────────────────────────────────────────────────────────────────────
    def stake(
        self, seat: int, ante: int = 10_000, player: str | None = None, **side_bets: int
    ) -> c.SeatStake:
        """Return a seat's stakes; its player is named after the seat unless said otherwise."""
        return c.SeatStake(seat, player or f"player-{seat}", ante, side_bets)

    def open(self, *stakes: c.SeatStake, table_id: str = "t", deal: bool = False) -> str:
        """Open a round with stakes, their players with money in the table's currency; return its id."""
        self.fund(stakes, table_id)
        round_id = self.next_id()
        self.ask(c.OpenRound(round_id, table_id, stakes, deal))
        return round_id

    def fund(self, stakes: Iterable[c.SeatStake], table_id: str = "t") -> None:
        """Open the players of stakes who are not there yet."""
        table = self.work.tables[table_id]
        for stake in stakes:
            self.player(stake.player_id, currency=table.currency, account_class=table.account_class)

    def next_id(self) -> str:
        """Return an id that no round has."""
        self.rounds_opened += 1
        return f"r{self.rounds_opened}"

    def dealt(self, dealer: str, boxes: Mapping[int, Box], table_id: str = "t") -> str:
        """Open a `table` round, take its stakes and deal; return its id. A shared hand is any box's."""
        stakes = tuple(self.stake(n, b.ante, b.player, **b.side_bets) for n, b in boxes.items())
        round_id = self.open(*stakes, table_id=table_id)
        self.deal(round_id, dealer, {number: box.hand for number, box in boxes.items()})
        return round_id

    def deal(self, round_id: str, dealer: str, boxes: Mapping[int, str]) -> dict[str, Any]:
        """Report the cards of a `table` round, with the up-cards of the dealer's five."""
        rules = self.work.rules_of(self.work.rounds[round_id])
        five = cards(dealer)
        up = tuple(five[place] for place in rules.up_indices)
        if rules.shared:
            return self.ask(c.DealCards(round_id, None, cards(next(iter(boxes.values()))), up))
        return self.ask(c.DealCards(round_id, {seat: cards(hand) for seat, hand in boxes.items()}, None, up))

    def decide(self, round_id: str, seat: int, does: str) -> dict[str, Any]:
        """Take a decision: ``raise``, ``fold``, ``2c>Kd`` to buy a card, or the last two in a row."""
        answer: dict[str, Any] = {}
        for step in does.split():
            if ">" in step:
                discard, drawn = step.split(">")
                answer = self.ask(c.Decide(round_id, seat, "exchange", discard, drawn or None))
            else:
                answer = self.ask(c.Decide(round_id, seat, "fold" if step == "fold" else "raise"))
        return answer

    def reveal(self, round_id: str, dealer: str) -> dict[str, Any]:
        """Report the dealer's other cards."""
        up = self.work.rounds[round_id].up_cards
        return self.ask(c.RevealDealer(round_id, tuple(card for card in cards(dealer) if card not in up)))

    def play(self, dealer: str, boxes: Mapping[int, Box], table_id: str = "t") -> str:
        """Play a whole `table` round; return its id."""
        round_id = self.dealt(dealer, boxes, table_id)
        for number in sorted(boxes):
            self.decide(round_id, number, boxes[number].does)
        if self.work.rounds[round_id].phase == "decided":
            self.reveal(round_id, dealer)
        assert self.round(round_id).phase == "closed"
        return round_id

    def settled(self, round_id: str, seat: int) -> ev.Settled:
        """Return a seat's settlement."""
        (found,) = [settled for settled in self.of(round_id, ev.Settled) if settled.seat == seat]
        return found

    def paid(self, round_id: str, seat: int = 1) -> dict[str, tuple[int, int]]:
        """Return what each bet of a seat gave back and won: the whole settlement in figures."""
        return {leg.bet: (leg.returned, leg.won) for leg in self.settled(round_id, seat).bets}

    def result(self, round_id: str, seat: int = 1) -> str:
        """Return a seat's result."""
        return self.settled(round_id, seat).result
