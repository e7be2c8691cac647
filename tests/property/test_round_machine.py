"""Random commands, legal and not, on five tables at once: what must hold holds after every one of them.

The tables differ in what matters: rng and dealt by hand, parallel rounds and one at a time, a shared hand
whose settlement takes several commands, three hands a player, a card exchange, seat order, clocks.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any

import hypothesis.strategies as st
from hypothesis import HealthCheck, given, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from domain import commands as c
from domain.cards import DECK
from domain.jackpot_life import ADJUSTMENT, TRANSFER
from domain.jackpot_parameters import PARAMETERS
from domain.jackpots import parameters_document
from domain.rejections import Rejection
from domain.replay import replay
from domain.round import Round
from domain.shuffle import Shuffle
from domain.views import round_view
from infrastructure.ledger.stored_form import encode
from tests.property.pools import PoolsBook
from tests.unit.domain.playing import Ledger, changed, jackpot_bet, plain_house

EXACT = 10_000
PLAYERS = {"anna": "USD", "bent": "USD", "cilla": "EUR", "dora": "EUR"}
SIDE_BETS: dict[str, Mapping[str, int]] = {
    "parallel": {"jackpot": 100},
    "hands": {"jackpot": 100},
    "ordered": {"jackpot": 100},
    "exchange": {"bonus": 50},
    "shared": {"five_plus_one": 70},
}
TABLES = tuple(SIDE_BETS)
AWARDS = {
    "royal_flush": {"fixed": "500"},
    "straight_flush": {"fixed": "500"},
    "four_of_a_kind": {"fixed": "500"},
    "full_house": {"fixed": "100", "funding": "house"},
    "flush": {"fixed": "50"},
    # So low that they are hit all the time.
    "straight": {"fixed": "4"},
    "three_of_a_kind": {"fixed": "3"},
    "two_pair": {"percent": 100},
    "pair": {"fixed": "1"},
}

CHANGES = ("adjust", "adjust", "parameters", "parameters", "disable", "enable", "enable", "enable")
Stake = tuple[int, bool, int, bool]
any_round = st.integers(0, 30)
any_seat = st.integers(0, 7)
any_player = st.sampled_from(tuple(PLAYERS))
a_stake = st.tuples(
    st.sampled_from((1, 1, 2, 2, 3, 3, 4, 0, 7)),
    st.booleans(),
    st.sampled_from((100, 100, 150, 250, 333, 100, 1_000, 99, 1_001)),
    st.booleans(),
)
some_stakes = st.lists(a_stake, max_size=3, unique_by=lambda stake: stake[0])


class RoundMachine(RuleBasedStateMachine):
    """The ledger under random commands, and a second book kept from the events alone."""

    def __init__(self) -> None:
        """Open the tables."""
        super().__init__()
        self.ledger = Ledger(settle_seats_max=2)
        self.dealers: dict[str, tuple[str, ...]] = {}
        self.checked: set[str] = set()
        self.pools = PoolsBook()

    @initialize()
    def open_everything(self) -> None:
        """A jackpot, five tables, four players with little money."""
        ledger = self.ledger
        ledger.jackpot(300, contribution="0.7123", ceiling=650, diversion="0.0377")
        ledger.jackpot(200, contribution="0.5", jackpot_id="other")
        for number, name in enumerate(("p1", "p2")):
            ledger.ask(c.RegisterPerson(name, f"key-{number}", ("admin",), f"unused-{number}"))
        jackpot = jackpot_bet(AWARDS)
        parallel = plain_house(side_bets=[jackpot], raise_cap={"amount": "30"})
        houses: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
            "parallel": (parallel, {"deal_source": "rng", "decision_seconds": 30}),
            "hands": (changed("cyber", raise_cap={"scope": "aggregate", "amount": "25"}), {}),
            "ordered": (
                plain_house(
                    id="ordered",
                    side_bets=[{**jackpot, "survives_fold": False}],
                    play={"decision_order": "seat", "reveal_if_all_fold": False},
                ),
                {"decision_seconds": 20, "deal_source": "rng", "jackpot_id": "other"},
            ),
            "exchange": (changed("czech", play={"on_timeout": "void"}), {"decision_seconds": 25}),
            "shared": (changed("evolution-live"), {"deal_source": "rng"}),
        }
        for name, (document, fields) in houses.items():
            currency = "EUR" if name in ("exchange", "shared") else "USD"
            extra: dict[str, Any] = {"bonus_stake": 50} if name == "exchange" else {}
            ledger.table(document, name, currency=currency, max_ante=1_000, **fields, **extra)
        for player, currency in PLAYERS.items():
            ledger.player(player, 6_000, currency)

    # ── Commands ────────────────────────────────────────────────────────────────────────────────
    def attempt(self, command: c.Command) -> None:
        """Have a command decided; a refusal has emitted nothing and changed nothing."""
        before = self.ledger.books()
        try:
            self.ledger.ask(command)
        except Rejection:
            assert self.ledger.last == []
            assert self.ledger.books() == before

    def pick(self, number: int) -> Round | None:
        """Return some round, recent ones first."""
        rounds = list(self.ledger.work.rounds.values())
        return rounds[-1 - number % min(len(rounds), 8)] if rounds else None

    def stakes(self, table: str, chosen: list[Stake]) -> tuple[c.SeatStake, ...]:
        """Return stakes at a table, by players of its currency."""
        currency = self.ledger.work.tables[table].currency
        players = [player for player, theirs in PLAYERS.items() if theirs == currency]
        return tuple(
            c.SeatStake(seat, players[second], ante, SIDE_BETS[table] if side_bet else {})
            for seat, second, ante, side_bet in chosen
        )

    @rule(
        table=st.sampled_from(TABLES),
        chosen=some_stakes,
        deal=st.booleans(),
    )
    def open_round(self, table: str, chosen: list[Stake], *, deal: bool) -> None:
        """A round, perhaps with stakes, perhaps dealt at once."""
        self.attempt(c.OpenRound(self.ledger.next_id(), table, self.stakes(table, chosen), deal))

    @rule(
        number=any_round,
        chosen=some_stakes,
        deal=st.booleans(),
    )
    def place_antes(self, number: int, chosen: list[Stake], *, deal: bool) -> None:
        """More stakes in some round."""
        if (round_ := self.pick(number)) is not None:
            self.attempt(c.PlaceAntes(round_.id, self.stakes(round_.opened.table_id, chosen), deal))

    @rule(
        number=any_round, seed=st.integers(0, 2**32), spoil=st.sampled_from(("", "", "", "repeat", "short"))
    )
    def deal(self, number: int, seed: int, spoil: str) -> None:
        """The deal, from the deck or by hand, at times with a wrong scan."""
        round_ = self.pick(number)
        if round_ is None:
            return
        if round_.opened.deal_source == "rng":
            self.attempt(c.DealCards(round_.id))
            return
        deck = random.Random(seed).sample(DECK, 52)
        hands = {seat: tuple(deck.pop() for _ in range(5)) for seat in sorted(round_.seats)}
        dealer = tuple(deck.pop() for _ in range(5))
        up = tuple(dealer[place] for place in self.ledger.work.rules_of(round_).up_indices)
        if spoil and hands:
            first = min(hands)
            hands[first] = (up[0], *hands[first][1:]) if spoil == "repeat" else hands[first][1:]
        self.attempt(c.DealCards(round_.id, hands, None, up))
        if round_.phase == "dealt":
            self.dealers.setdefault(round_.id, dealer)

    @rule(
        number=any_round,
        seat=st.integers(0, 3),
        action=st.sampled_from(("raise", "raise", "fold", "exchange")),
        drawn=st.sampled_from(DECK),
        open_next=st.booleans(),
    )
    def decide(self, number: int, seat: int, action: Any, drawn: str, *, open_next: bool) -> None:
        """Some seat decides, in its turn or not."""
        round_ = self.pick(number)
        if round_ is None:
            return
        seats = sorted(round_.seats) or [1]
        chosen = seats[seat % len(seats)]
        fields: dict[str, Any] = {}
        if action == "exchange":
            hand = round_.seats[chosen].cards if round_.seats else ()
            fields = {"discard": hand[0] if hand else None}
            if round_.opened.deal_source == "table" and drawn not in self.dealers.get(round_.id, ()):
                fields["drawn"] = drawn
        if open_next:
            fields |= {"open_next": True, "next_round_id": self.ledger.next_id()}
        self.attempt(c.Decide(round_.id, chosen, action, **fields))

    @rule(number=any_round, seed=st.integers(0, 2**32), action=st.sampled_from(("raise", "raise", "fold")))
    def play_on(self, number: int, seed: int, action: Any) -> None:
        """Some round takes the step it waits for."""
        round_ = self.pick(number)
        if round_ is None or round_.phase == "betting":
            self.deal(number, seed, "")
        elif round_.phase == "dealt":
            self.attempt(c.Decide(round_.id, round_.next_seat() or 0, action))
        elif round_.phase == "decided" and not round_.settled:
            self.reveal(number, wrong=False)
        else:
            self.go_on(number)

    @rule(seed=st.integers(0, 2**32))
    def storm(self, seed: int) -> None:
        """Many commands in a row, most of them the next step of some round."""
        rng = random.Random(seed)
        players = list(PLAYERS)

        def chosen() -> list[Stake]:
            seats = rng.sample(range(1, 4), rng.randint(1, 3))
            return [(n, rng.random() < 0.5, rng.choice((100, 150)), rng.random() < 0.7) for n in seats]

        steps: list[tuple[int, Callable[[], object]]] = [
            (12, lambda: self.play_on(rng.randrange(8), rng.randrange(2**32), rng.choice(("raise", "fold")))),
            (4, lambda: self.open_round(rng.choice(TABLES), chosen(), deal=rng.random() < 0.3)),
            (2, lambda: self.place_antes(rng.randrange(8), chosen(), deal=False)),
            (3, lambda: self.exchange(rng.randrange(8), rng.choice(DECK))),
            (2, lambda: self.go_on(rng.randrange(8))),
            (1, lambda: self.void(rng.randrange(8), "malfunction")),
            (1, lambda: self.time_out(rng.randrange(8), rng.choice((0, 31)))),
            (
                2,
                lambda: self.change_jackpot(
                    rng.choice(("pot", "other")), rng.choice(CHANGES), rng.randrange(2**32)
                ),
            ),
            (1, lambda: self.deposit(rng.choice(players), rng.choice((500, 4_000)), rng.randrange(9))),
        ]
        weights = [weight for weight, _ in steps]
        for _, step in rng.choices(steps, weights, k=40):
            step()
            self.check()

    def exchange(self, number: int, drawn: str) -> None:
        """The next seat buys a card."""
        round_ = self.pick(number)
        if round_ is not None and (seat := round_.next_seat()) is not None and round_.phase == "dealt":
            hand = round_.seats[seat].cards or round_.shared
            if drawn not in self.dealers.get(round_.id, ()):
                self.attempt(c.Decide(round_.id, seat, "exchange", hand[4], drawn))

    @rule(number=any_round, wrong=st.booleans())
    def reveal(self, number: int, *, wrong: bool) -> None:
        """The dealer's other cards, at times with one of a player's."""
        round_ = self.pick(number)
        if round_ is not None:
            dealer = self.dealers.get(round_.id, ())
            others = tuple(card for card in dealer if card not in round_.up_cards)
            self.attempt(c.RevealDealer(round_.id, (*others[1:], *round_.up_cards) if wrong else others))

    @rule(number=any_round, cause=st.sampled_from(("malfunction", "misdeal_exposed")))
    def void(self, number: int, cause: str) -> None:
        """A round is declared void."""
        if (round_ := self.pick(number)) is not None:
            self.attempt(c.VoidRound(round_.id, cause))

    @rule(number=any_round, seconds=st.sampled_from((0, 5, 31, 901)))
    def time_out(self, number: int, seconds: int) -> None:
        """Time passes, and a clock may have run out."""
        self.ledger.tick(seconds)
        if (round_ := self.pick(number)) is not None:
            self.attempt(c.TimeOutRound(round_.id))

    @rule(number=any_round)
    def go_on(self, number: int) -> None:
        """A settlement or refund goes on, if there is one."""
        if (round_ := self.pick(number)) is not None:
            self.attempt(c.ContinueRound(round_.id))

    @rule(player=any_player, amount=st.sampled_from((0, 1, 500, 4_000)), reference=st.integers(0, 3))
    def deposit(self, player: str, amount: int, reference: int) -> None:
        """Money in, at times with a reference that was used."""
        self.attempt(c.Deposit(player, amount, f"in-{reference}", "tx"))

    @rule(player=any_player, amount=st.sampled_from((0, 1, 500, 4_000)), reference=st.integers(0, 3))
    def withdraw(self, player: str, amount: int, reference: int) -> None:
        """Money out."""
        self.attempt(c.Withdraw(player, amount, f"out-{reference}", "tx"))

    @rule(table=st.sampled_from(TABLES), player=any_player, seat=any_seat, which=st.integers(0, 3))
    def come_and_go(self, table: str, player: str, seat: int, which: int) -> None:
        """Players join and leave, tables close and open."""
        commands: tuple[c.Command, ...] = (
            c.JoinTable(table, player, seat or None),
            c.LeaveTable(table, player),
            c.CloseTable(table),
            c.ReopenTable(table),
        )
        self.attempt(commands[which])

    @rule(
        jackpot=st.sampled_from(("pot", "pot", "other")),
        what=st.sampled_from(
            ("adjust", "adjust", "parameters", "parameters", "disable", "enable", "transfer")
        ),
        seed=st.integers(0, 2**32),
    )
    def change_jackpot(self, jackpot: str, what: str, seed: int) -> None:
        """A jackpot is changed, alone or by two, or one tries to."""
        rng = random.Random(seed)
        if what == "disable":
            self.attempt(c.DisableJackpot(jackpot))
        elif what == "enable":
            self.attempt(c.EnableJackpot(jackpot))
        elif what == "adjust":
            pool, amount = rng.choice(("meter", "overflow", "diversion")), rng.choice((-200, -7, 0, 5, 90))
            self.by_two(ADJUSTMENT, {"jackpot_id": jackpot, "pool": pool, "amount": amount})
        elif what == "transfer":
            self.by_two(TRANSFER, {"jackpot_id": jackpot, "to": "other" if jackpot == "pot" else "pot"})
        else:
            new: dict[str, Any] = {
                "contribution": rng.choice(("0.5", "0.7", "1")),
                "reset": rng.choice((0, 150, 450)),
            }
            if rng.random() < 0.7:
                new["ceiling"] = rng.choice((350, 600, 900))
            if rng.random() < 0.7:
                new["diversion"] = rng.choice(("0.1", "0.5", "0"))
            self.by_two(PARAMETERS, {"jackpot_id": jackpot, **new})

    def by_two(self, kind: str, payload: dict[str, Any]) -> None:
        """One person proposes, another approves."""
        name = f"A{self.ledger.commands}"
        with self.ledger.acting("p1", "admin"):
            self.attempt(c.Propose(name, kind, payload))
        if name in self.ledger.work.approvals:
            self.check()
            with self.ledger.acting("p2", "admin"):
                self.attempt(c.Approve(name))

    # ── What must hold ──────────────────────────────────────────────────────────────────────────
    @invariant()
    def check(self) -> None:
        """Everything below, after every command."""
        self.the_trial_balance_is_zero()
        self.money_on_game_is_the_stakes_of_unfinished_rounds()
        self.a_table_with_one_round_at_a_time_knows_it()
        self.the_pools_are_what_their_events_say()
        self.every_round_is_what_its_events_fold_to()
        self.nothing_hidden_is_told()
        self.every_finished_round_passes_the_replay()

    def the_trial_balance_is_zero(self) -> None:
        """Per currency: wallets, money on game, jackpots' pools, house and cashier sum to zero (G1)."""
        work = self.ledger.work
        total: Counter[str] = Counter()
        for wallet in work.wallets.values():
            assert wallet.balance >= 0
            assert wallet.on_game >= 0
            total[wallet.currency] += (wallet.balance + wallet.on_game) * EXACT
        for jackpot in work.jackpots.values():
            total[jackpot.currency] += jackpot.meter + jackpot.overflow + jackpot.diverted
        for (_, currency), amount in work.accounts.items():
            total[currency] += amount
        assert not any(total.values())

    def money_on_game_is_the_stakes_of_unfinished_rounds(self) -> None:
        """And the `unfinished` maps name exactly those rounds."""
        on_game: Counter[str] = Counter()
        unfinished: dict[str, dict[str, str]] = {player: {} for player in self.ledger.work.wallets}
        for round_ in self.ledger.work.rounds.values():
            for seat in round_.seats.values():
                if seat.settled is None and not seat.refunded:
                    on_game[seat.player] += seat.stakes()
                    unfinished[seat.player][round_.opened.table_id] = round_.id
        for wallet in self.ledger.work.wallets.values():
            assert wallet.on_game == on_game[wallet.player]
            assert wallet.unfinished == unfinished[wallet.player]

    def a_table_with_one_round_at_a_time_knows_it(self) -> None:
        """`open_round` is its unfinished round, and there is one at most."""
        for table in self.ledger.work.tables.values():
            mine = [r for r in self.ledger.work.rounds.values() if r.opened.table_id == table.table_id]
            open_ = [round_.id for round_ in mine if not round_.finished]
            assert table.open_round == (None if table.parallel_rounds or not open_ else open_[0])
            assert table.parallel_rounds or len(open_) <= 1

    def the_pools_are_what_their_events_say(self) -> None:
        """Seeds, contributions, awards, transfers and all else, in all pools, to the ten-thousandth (G10)."""
        self.pools.read(self.ledger.events)
        self.pools.compare(self.ledger.work)

    def every_round_is_what_its_events_fold_to(self) -> None:
        """Folded from scratch, each round of the last command is the one in the books."""
        for round_id in {e.stream.removeprefix("round-") for e in self.ledger.last if "round-" in e.stream}:
            self.ledger.round(round_id)

    def nothing_hidden_is_told(self) -> None:
        """Nobody is told an undealt card or the seed of an open round, nor a stranger a closed hand (G5)."""
        for round_id, secret in self.ledger.work.secrets.items():
            round_ = self.ledger.work.rounds[round_id]
            seeds = {s.seat: s.client_seed for s in round_.seats.values() if s.client_seed is not None}
            deck = Shuffle(secret.seed, round_id, round_.opened.ruleset.sha256, seeds).first(52)
            dealt = set(round_.shared) | set(round_.up_cards) | set(round_.discards)
            for seat in round_.seats.values():
                dealt.update(seat.cards)
            self.told(round_, [card for card in deck if card not in dealt], secret.seed.hex())
        for round_id, dealer in self.dealers.items():
            round_ = self.ledger.work.rounds[round_id]
            if not round_.dealer:
                self.told(round_, [card for card in dealer if card not in round_.up_cards], None)

    def told(self, round_: Round, hidden: list[str], seed: str | None) -> None:
        """Check what everybody is told of an open round."""
        rules = self.ledger.work.rules_of(round_)
        events = repr([emitted.event for emitted in self.ledger.by_round[round_.id]])
        inside = json.dumps(round_view(round_, rules, {}, game_server=True))
        for text in (events.replace("'", '"'), inside, repr(self.ledger.work.secrets)):
            assert seed is None or seed not in text
            assert not any(f'"{card}"' in text for card in hidden)
        if rules.player_cards_down and not round_.finished:
            outside = json.dumps(round_view(round_, rules, {}, game_server=False))
            closed = {card for seat in round_.seats.values() for card in seat.cards}
            assert not any(f'"{card}"' in outside for card in closed)

    def every_finished_round_passes_the_replay(self) -> None:
        """Derived again by code that shares nothing with the writer's (G8)."""
        for round_id, round_ in self.ledger.work.rounds.items():
            if round_.finished and round_id not in self.checked:
                self.checked.add(round_id)
                stored = [
                    json.loads(
                        encode(e.position, e.recorded_at_us, e.stream, e.version, e.event, e.meta, "A" * 22)
                    )
                    for e in self.ledger.by_round[round_id]
                ]
                pinned = round_.opened.jackpot
                document = None
                if pinned is not None:
                    document = parameters_document(
                        pinned.id,
                        "USD",
                        pinned.contribution,
                        pinned.reset,
                        pinned.version,
                        pinned.ceiling,
                        pinned.diversion,
                    )
                ref = round_.opened.ruleset
                published = self.ledger.work.rulesets[ref.id][ref.version].document
                report = replay(stored, published, document)
                assert report.verdict == "pass", report.failed()


TestRounds = RoundMachine.TestCase
TestRounds.settings = settings(
    max_examples=50,
    stateful_step_count=20,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 2**32))
def test_long_days(seed: int) -> None:
    """Some hundred commands in a row, most of them legal, leave books in which all of it holds."""
    machine = RoundMachine()
    machine.open_everything()
    for hour in range(8):
        machine.storm(seed + hour)
