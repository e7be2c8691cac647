"""Random requests over HTTP, legal and not, at a whole service: what must hold holds after each of them.

Each example has tables, jackpots and players of its own at one service. A second book is kept beside it by
the checker's own fold of the events. At the end every round is finished and proved, and what the read side
says is compared with what the ledger holds.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from domain.cards import DECK
from tests.integration.api.conftest import Api, running
from tests.integration.api.individuals import Individual
from tests.property.http_world import Asked, HttpWorld, same, told

EXAMPLES = 14
STEPS = 20
STORM = 30
READ_AGAIN_MAX = 5
ROYAL = ("As", "Ks", "Qs", "Js", "Ts")
HOUSES = {"rng": "us-casino", "hand": "us-casino", "live": "evolution-live", "three": "cyber"}
SIDE_BETS = {"rng": {"jackpot": 100}, "hand": {"jackpot": 100}, "live": {"five_plus_one": 150}}
PLAYERS = 4
PROPOSALS = ("parameters", "transfers", "adjustments", "adjustments")

_names = itertools.count(1)
any_number = st.integers(0, 30)
any_player = st.integers(0, PLAYERS)
any_table = st.sampled_from(tuple(HOUSES))
some_seats = st.lists(
    st.tuples(
        st.integers(0, 4), any_player, st.sampled_from((100, 100, 100, 250, 99)), st.booleans(), st.booleans()
    ),
    max_size=3,
)


class HttpMachine(RuleBasedStateMachine):
    """One example: `name` makes what it opens its own."""

    world: ClassVar[HttpWorld]

    @initialize(seed=st.integers(0, 2**32))
    def begin(self, seed: int) -> None:
        """Open everything, and let a storm leave rounds in all their phases."""
        self.open_everything()
        self.storm(seed)

    def open_everything(self) -> None:
        """Two jackpots, four tables, players with little money."""
        self.name = f"m{next(_names)}"
        self.rounds: dict[str, dict[str, Any]] = {}
        self.asked: list[Asked] = []
        self.approvals: list[str] = []
        self.jackpots = [f"{self.name}-pot", f"{self.name}-other"]
        for jackpot_id, more in zip(self.jackpots, ({"ceiling": 400, "diversion": "0.1"}, {}), strict=True):
            body = {"jackpot_id": jackpot_id, "currency": "USD", "reset": 300, "contribution": "0.70", **more}
            self.done("/v1/jackpots", body)
        limits = {
            "currency": "USD",
            "min_ante": 100,
            "max_ante": 1_000,
            "parameters": {"decision_seconds": 30},
        }
        for table, house in HOUSES.items():
            pot = {"jackpot_id": self.jackpots[0]} if table in ("rng", "hand") else {}
            source = {
                "deal_source": "table" if table == "hand" else "rng",
                "parallel_rounds": table != "three",
            }
            body = {"table_id": self.table(table), "ruleset": house, **limits, **source, **pot}
            self.done("/v1/tables", body)
        for number in range(PLAYERS):
            self.done("/v1/players", {"player_id": self.player(number), "currency": "USD"})
            self.send(
                "/v1/players/{player_id}/deposits",
                {"amount": 2_000, "reference": "first"},
                player_id=self.player(number),
            )
        self.opened = True

    # ── Asking ──────────────────────────────────────────────────────────────────────────────────────────────
    def player(self, number: int) -> str:
        """Return a player's id; the last one is nobody's."""
        return f"{self.name}-{number}"

    def table(self, name: str) -> str:
        """Return a table's id."""
        return f"{self.name}-{name}"

    def send(self, template: str, body: Any, **names: str) -> Asked:
        """Send a command and learn of the round it answers with."""
        asked = self.world.post(template, body, **names)
        self.asked.append(asked)
        answer = asked.answer.json() if asked.answer.is_success else {}
        if "round_id" in answer:
            self.rounds[answer["round_id"]] = answer
        following = answer.get("next_round")
        if following is not None:
            self.rounds[following["round_id"]] = self.world.get("/v1/rounds/{round_id}", **following)
        return asked

    def done(self, template: str, body: Any) -> None:
        """Send a command that must be accepted."""
        asked = self.send(template, body)
        assert asked.answer.is_success, (told(asked), asked.answer.text)

    def pick(self, number: int) -> dict[str, Any] | None:
        """Return some round, recent ones first."""
        rounds = list(self.rounds.values())
        return rounds[-1 - number % min(len(rounds), 6)] if rounds else None

    def seats(self, table: str, chosen: list[tuple[int, int, int, bool, bool]]) -> list[dict[str, Any]]:
        """Return seats' stakes."""
        bets = SIDE_BETS.get(table, {})
        return [
            {
                "seat": seat + number,
                "player_id": self.player(player),
                "ante": ante,
                "side_bets": bets if with_bet else {},
                **({"session_id": f"s-{number}"} if with_session else {}),
            }
            for number, (seat, player, ante, with_bet, with_session) in enumerate(chosen)
            if seat + number
        ]

    # ── Play ────────────────────────────────────────────────────────────────────────────────────────────────
    @rule(table=any_table, chosen=some_seats, deal=st.booleans())
    def open_round(self, table: str, chosen: list[Any], *, deal: bool) -> None:
        """A round, perhaps with stakes, perhaps dealt at once."""
        self.send(
            "/v1/rounds", {"table_id": self.table(table), "seats": self.seats(table, chosen), "deal": deal}
        )

    @rule(number=any_number, chosen=some_seats, deal=st.booleans())
    def place_antes(self, number: int, chosen: list[Any], *, deal: bool) -> None:
        """More stakes."""
        if (round_ := self.pick(number)) is not None:
            seats = self.seats(round_["table_id"].removeprefix(f"{self.name}-"), chosen)
            self.send(
                "/v1/rounds/{round_id}/antes", {"seats": seats, "deal": deal}, round_id=round_["round_id"]
            )

    @rule(number=any_number, seed=st.integers(0, 2**32), lucky=st.booleans())
    def deal(self, number: int, seed: int, *, lucky: bool) -> None:
        """The deal: from the deck or by hand, where one seat may be dealt the best hand there is."""
        round_ = self.pick(number)
        if round_ is None:
            return
        body: dict[str, Any] = {}
        if round_["deck_commitment"] is None:
            deck = [card for card in random.Random(seed).sample(DECK, 52) if card not in ROYAL]
            seats = [str(seat["seat"]) for seat in round_["seats"]]
            hands = {seat: [deck.pop() for _ in range(5)] for seat in seats}
            if lucky and seats:
                hands[seats[0]] = list(ROYAL)
            body = {"seats": hands, "dealer_up": [deck.pop()]}
        self.send("/v1/rounds/{round_id}/deal", body, round_id=round_["round_id"])

    @rule(
        number=any_number,
        seat=any_number,
        action=st.sampled_from(("raise", "raise", "fold", "exchange")),
        open_next=st.booleans(),
    )
    def decide(self, number: int, seat: int, action: str, *, open_next: bool) -> None:
        """Some seat decides."""
        if (round_ := self.pick(number)) is not None:
            seats = [each["seat"] for each in round_["seats"]] or [1]
            body = {"seat": seats[seat % len(seats)], "action": action, "open_next": open_next}
            self.send("/v1/rounds/{round_id}/decisions", body, round_id=round_["round_id"])

    @rule(number=any_number, seed=st.integers(0, 2**32))
    def reveal(self, number: int, seed: int) -> None:
        """The dealer's other cards, at times one of a player's."""
        if (round_ := self.pick(number)) is not None:
            seen = {card for seat in round_["seats"] for card in seat["cards"]} | set(round_["up_cards"])
            others = [
                card for card in random.Random(seed).sample(DECK, 52) if seed % 9 == 0 or card not in seen
            ]
            self.send("/v1/rounds/{round_id}/reveal", {"dealer": others[:4]}, round_id=round_["round_id"])

    @rule(number=any_number, seed=st.integers(0, 2**32))
    def play_on(self, number: int, seed: int) -> None:
        """Some round is taken to where nobody can decide any more."""
        round_ = self.pick(number)
        if round_ is None:
            return
        if round_["phase"] == "betting":
            if not round_["seats"]:
                self.place_antes(number, [(1, seed % PLAYERS, 100, True, False)], deal=False)
            self.deal(number, seed, lucky=seed % 2 == 0)
        for seat in self.rounds[round_["round_id"]]["seats"]:
            if seat["options"]:
                body = {"seat": seat["seat"], "action": "raise" if seed % 5 else "fold"}
                self.send("/v1/rounds/{round_id}/decisions", body, round_id=round_["round_id"])
        if self.rounds[round_["round_id"]]["phase"] == "decided":
            self.reveal(number, 9 * seed + 1)

    @rule(seed=st.integers(0, 2**32))
    def storm(self, seed: int) -> None:
        """Many requests in a row, most of them the next step of some round."""
        rng = random.Random(seed)

        def chosen() -> list[Any]:
            players = rng.sample(range(PLAYERS), rng.randint(1, 3))
            return [(1, player, rng.choice((100, 250)), rng.random() < 0.8, False) for player in players]

        steps: list[tuple[int, Callable[[], object]]] = [
            (6, lambda: self.open_round(rng.choice(tuple(HOUSES)), chosen(), deal=rng.random() < 0.3)),
            (2, lambda: self.place_antes(rng.randrange(6), chosen(), deal=rng.random() < 0.3)),
            (8, lambda: self.play_on(rng.randrange(4), rng.randrange(2**32))),
            (2, lambda: self.decide(rng.randrange(4), rng.randrange(3), "raise", open_next=True)),
            (1, lambda: self.void(rng.randrange(4), "malfunction")),
            (1, lambda: self.time_passes(31)),
            (2, lambda: self.move_money(rng.randrange(4), 500, "deposits", f"r{rng.randrange(5)}")),
            (1, lambda: self.move_money(rng.randrange(4), 400, "withdrawals", f"r{rng.randrange(5)}")),
            (1, lambda: self.jackpot_is_switched(rng.randrange(2), rng.choice(("enable", "disable")))),
            (
                2,
                lambda: self.propose(rng.randrange(2), rng.choice(PROPOSALS), 250, "meter", rng.randrange(3)),
            ),
            (3, lambda: self.decide_proposal(rng.randrange(3), rng.randrange(3), "approve")),
            (2, lambda: self.repeat(rng.randrange(30))),
        ]
        weights = [weight for weight, _ in steps]
        for _, step in rng.choices(steps, weights, k=STORM):
            step()
            self.world.holds()

    @rule(number=any_number, cause=st.sampled_from(("malfunction", "misdeal_exposed", "bad_temper")))
    def void(self, number: int, cause: str) -> None:
        """A round is declared void."""
        if (round_ := self.pick(number)) is not None:
            body = {"cause": cause, "note": "Something jammed."}
            self.send("/v1/rounds/{round_id}/void", body, round_id=round_["round_id"])

    @rule(table=any_table, player=any_player, seat=st.integers(0, 9), way=st.sampled_from(("join", "leave")))
    def come_and_go(self, table: str, player: int, seat: int, way: str) -> None:
        """Players sit down and leave."""
        body: dict[str, Any] = {"player_id": self.player(player)}
        if way == "join" and seat:
            body["seat"] = seat
        self.send(f"/v1/tables/{{table_id}}/{way}", body, table_id=self.table(table))

    @rule(table=any_table, way=st.sampled_from(("open", "open", "close")))
    def table_opens_or_closes(self, table: str, way: str) -> None:
        """Tables close and open."""
        self.send(f"/v1/tables/{{table_id}}/{way}", {}, table_id=self.table(table))

    @rule(seconds=st.sampled_from((1, 31, 31, 901)))
    def time_passes(self, seconds: int) -> None:
        """Time passes; the ledger's own jobs may take note whenever they like."""
        self.world.api.clock.ahead_us += seconds * 1_000_000

    # ── Money ───────────────────────────────────────────────────────────────────────────────────────────────
    @rule(
        player=any_player,
        amount=st.sampled_from((0, 1, 500, 4_000, 10**12, 10**12 + 1, -5, "100", 2.5, None)),
        way=st.sampled_from(("deposits", "withdrawals")),
        reference=st.sampled_from(("a", "b", "first", "", "ä", "x" * 129)),
    )
    def move_money(self, player: int, amount: Any, way: str, reference: str) -> None:
        """Money in and out, at times of a kind that there is not, at times under a used reference."""
        body = {"amount": amount, "reference": reference}
        self.send(f"/v1/players/{{player_id}}/{way}", body, player_id=self.player(player))

    # ── Jackpots and approvals ──────────────────────────────────────────────────────────────────────────────
    @rule(which=st.integers(0, 1), way=st.sampled_from(("enable", "enable", "disable")))
    def jackpot_is_switched(self, which: int, way: str) -> None:
        """A jackpot is disabled, or enabled again."""
        self.send(f"/v1/jackpots/{{jackpot_id}}/{way}", {"note": "Why."}, jackpot_id=self.jackpots[which])

    @rule(
        which=st.integers(0, 1),
        what=st.sampled_from(PROPOSALS),
        amount=st.sampled_from((1, 250, -50, -400, 0)),
        pool=st.sampled_from(("meter", "overflow", "diversion")),
        by=st.integers(0, 2),
    )
    def propose(self, which: int, what: str, amount: int, pool: str, by: int) -> None:
        """Something that takes two is proposed, by a person or by the service's own token."""
        body: dict[str, Any] = {
            "parameters": {"contribution": "0.5", "reset": 300 + abs(amount), "ceiling": 900, "note": "Why."},
            "transfers": {"to": self.jackpots[1 - which], "note": "Why."},
            "adjustments": {"pool": pool, "amount": amount, "reason": "Why."},
        }[what]
        template, names = f"/v1/jackpots/{{jackpot_id}}/{what}", {"jackpot_id": self.jackpots[which]}
        if by < len(self.world.people):
            asked = self.world.post_as(self.world.people[by], template, body, **names)
        else:
            asked = self.send(template, body, **names)
        if asked.answer.is_success:
            assert asked.answer.json()["status"] == "proposed"
            self.approvals.append(asked.answer.json()["approval_id"])

    @rule(number=any_number, by=st.integers(0, 2), decision=st.sampled_from(("approve", "approve", "refuse")))
    def decide_proposal(self, number: int, by: int, decision: str) -> None:
        """A proposal is decided on; nobody approves what they have proposed, and a service nothing."""
        if not self.approvals:
            return
        approval_id = self.approvals[-1 - number % min(len(self.approvals), 4)]
        proposal = self.world.get("/v1/approvals/{approval_id}", approval_id=approval_id)
        template, body = "/v1/approvals/{approval_id}", {"decision": decision}
        if by < len(self.world.people):
            person = self.world.people[by]
            asked = self.world.post_as(person, template, body, approval_id=approval_id)
            if asked.answer.is_success:
                assert proposal["status"] == "proposed"
                assert decision == "refuse" or proposal["proposed_by"] != person.name
        else:
            assert not self.send(template, body, approval_id=approval_id).answer.is_success

    # ── Requests that came before ───────────────────────────────────────────────────────────────────────────
    @rule(number=any_number)
    def repeat(self, number: int) -> None:
        """A request is sent again, byte for byte: it has its first answer."""
        asked = self.asked[-1 - number % len(self.asked)]
        again = self.world.again(asked)
        code = asked.answer.json().get("code")
        if code not in ("validation_failed", "amount_out_of_range"):
            assert same(asked.answer, again.answer), told(asked)
            assert again.answer.headers["idempotent-replayed"] == "true"

    @rule(number=any_number)
    def reuse(self, number: int) -> None:
        """The key of something that happened is used for something else: refused, whatever it is."""
        asked = self.asked[-1 - number % len(self.asked)]
        if asked.answer.is_success:
            again = self.world.post("/v1/players", {"player_id": "x", "currency": "USD"}, key=asked.key)
            assert again.answer.json()["code"] == "idempotency_key_reused"

    # ── What must hold ──────────────────────────────────────────────────────────────────────────────────────
    @invariant()
    def everything_holds(self) -> None:
        """Books, wallets and meters are what the events say, and what is told is that."""
        if not getattr(self, "opened", False):
            return
        self.world.holds()
        for number in range(2):
            self.world.wallet_is_told(self.player(number))
        self.world.jackpot_is_told(self.jackpots[0])

    def teardown(self) -> None:
        """Every round is finished and proved; statements, roll-forwards and trial balance add up."""
        if not getattr(self, "opened", False):
            return
        for round_id in list(self.rounds):
            self._finish(round_id)
        self.world.holds()
        for number in range(PLAYERS):
            self._check_statement(self.player(number))
        for jackpot_id in self.jackpots:
            self._check_roll_forward(jackpot_id)
        assert not any(float(s) for s in self.world.get("/v1/trial-balance")["sums"].values())

    def _finish(self, round_id: str) -> None:
        """Void what is not finished; then the replay of what is there passes."""
        self.world.post(
            "/v1/rounds/{round_id}/void", {"cause": "malfunction", "note": "End."}, round_id=round_id
        )
        round_ = self.world.get("/v1/rounds/{round_id}", round_id=round_id)
        assert round_["phase"] in ("closed", "voided"), round_
        report = self.world.get("/v1/rounds/{round_id}/replay", round_id=round_id)
        assert report["verdict"] == "pass", report

    def _check_statement(self, player_id: str) -> None:
        for _ in range(READ_AGAIN_MAX):
            before = self.world.get("/v1/players/{player_id}", player_id=player_id)
            items = self._statement(player_id)
            wallet = self.world.get("/v1/players/{player_id}", player_id=player_id)
            if wallet == before:  # else the ledger's own jobs have moved something meanwhile
                break
        assert sum(item["amount"] for item in items) == wallet["balance"]
        assert all(a["balance_after"] == b["balance_before"] for a, b in itertools.pairwise(items))

    def _statement(self, player_id: str) -> list[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        query: dict[str, Any] = {}
        while True:
            page = self.world.get("/v1/players/{player_id}/statement", player_id=player_id, query=query)
            items += page["items"]
            if "next_cursor" not in page:
                return items
            query = {"cursor": page["next_cursor"]}

    def _check_roll_forward(self, jackpot_id: str) -> None:
        told_ = self.world.jackpot_is_told(jackpot_id)
        query = {"from": "2025-01-01", "to": "2034-12-31", "every": "month"}
        (found,) = self.world.get(
            "/v1/jackpots/{jackpot_id}/roll-forward", jackpot_id=jackpot_id, query=query
        )["items"]
        last = found["intervals"][-1]
        closing = [last[pool]["closing"] for pool in ("meter", "overflow", "diversion")]
        assert closing == [told_[f"{pool}_exact"] for pool in ("meter", "overflow", "diversion")]


@pytest.fixture(scope="module")
def world(database: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HttpWorld]:
    """Yield a service with two administrators who can approve."""
    for api in running(database, tmp_path_factory.mktemp("keys")):
        people = (Individual("ida"), Individual("ole"))
        for person in people:
            Api.done(api.post("/v1/people", person.body))
        made = HttpWorld(api, people)
        yield made
        made.close()


def test_random_requests_leave_the_books_whole(world: HttpWorld) -> None:
    """Whatever is asked, the books balance, repeats are repeats, and every round is proved."""
    HttpMachine.world = world
    run_state_machine_as_test(  # type: ignore[no-untyped-call]
        HttpMachine,
        settings=settings(
            max_examples=EXAMPLES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        ),
    )
