"""The guests at play: parties of them, each round by its plan, every answer counted."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from api.cli.simulate.channel import Channel, RefusedError
from api.cli.simulate.furniture import furniture
from api.cli.simulate.plan import MAX_ANTE, MIN_ANTE, PARTY, House, Plan, decides, plan
from api.cli.simulate.summary import Summary
from domain import commands as c
from domain.money import AMOUNT_MAX
from infrastructure import ids
from infrastructure.clock import system_clock

DECISION_SECONDS: Final = 1
"""Where a decision has its time: as short as can be, for somebody waits until it has run out."""
VISIT: Final = 1_000_000
"""What a guest brings at least each time, minor units."""
EXPECTED: Final = {
    "ante": "ante_out_of_limits",
    "side_bet": "unknown_side_bet",
    "player": "player_not_found",
    "seat": "seat_taken",
    "table": "table_not_found",
    "withdrawal": "insufficient_funds",
    "deposit": "reference_already_used",
    "decision": "already_decided",
    "finished": "wrong_phase",
}
"""How the ledger answers each bad request."""
BEFORE: Final = ("ante", "side_bet", "player", "seat", "table", "withdrawal", "deposit")
"""Those that are made before the cards."""


class UnexpectedError(Exception):
    """The ledger took a request that it has to refuse."""


async def furnish(channel: Channel, run: str, rulesets: Sequence[str]) -> list[House]:
    """Open the tables of each house, and its jackpot where it has one. Raises RefusedError."""
    houses = []
    for house, commands in furniture(run, rulesets, decision_seconds=DECISION_SECONDS):
        for command in commands:
            await channel.ask(command)
        houses.append(house)
    return houses


async def play(
    channel: Channel,
    run: str,
    houses: Sequence[House],
    seed: int,
    rounds: int,
    players: int,
    *,
    progress: Callable[[int], None] = lambda _: None,
) -> Summary:
    """Play `rounds` rounds with `players` guests, in parties, each with every so-manieth round.

    Raises RefusedError and UnexpectedError where the ledger does not answer as it should.
    """
    summary = Summary()
    parties = [_Party(channel, run, n, summary) for n in range(min(-(-players // PARTY), rounds))]

    async def evening(party: _Party) -> None:
        opened: tuple[House, str] | None = None
        for number in range(party.number, rounds, len(parties)):
            intended = plan(houses, seed, number, at=None if opened is None else opened[0])
            last = number + len(parties) >= rounds
            following = await party.play(intended, None if opened is None else opened[1], last=last)
            opened = None if following is None else (intended.house, following)
            progress(len(summary.round_ids))

    try:
        async with asyncio.TaskGroup() as group:
            for party in parties:
                group.create_task(evening(party))
    except BaseExceptionGroup as failed:
        raise failed.exceptions[
            0
        ] from None  # the others are of tasks that were cancelled for it, or the same
    return summary


class _Party:
    """Guests who play together. `funds` is the least that each wallet must hold: wins are not counted."""

    def __init__(self, channel: Channel, run: str, number: int, summary: Summary) -> None:
        self.number = number
        self._channel = channel
        self._run = run
        self._summary = summary
        self._funds: Counter[str] = Counter()
        self._transfers = 0
        self._brought: c.Deposit | None = None

    async def play(self, plan_: Plan, round_id: str | None, *, last: bool) -> str | None:
        """Play one round; `round_id` names one that waits for stakes. Return the next one that was opened."""
        session = f"{self._run}-{self._transfers}" if plan_.joins else None
        stakes = [
            c.SeatStake(s.seat, self._name(s.guest, plan_), s.ante, s.side_bets, session, None, s.client_seed)
            for s in plan_.stakes
        ]
        await self._bring_money(stakes, plan_)
        await self._be_refused(plan_, stakes[0], *BEFORE)
        if plan_.withdraws:
            await self._transfer(c.Withdraw, stakes[0].player_id, plan_.dice.randint(1, VISIT // 100))
        if plan_.joins:
            await self._take_places(plan_, stakes)
        round_ = await self._finish(plan_, stakes, await self._deal(plan_, stakes, round_id), last=last)
        self._summary.finished(round_)
        await self._be_refused(plan_, stakes[0], "finished", round_=round_)
        if plan_.joins:
            for guest in dict.fromkeys(stake.player_id for stake in stakes):
                await self._channel.ask(c.LeaveTable(_table(plan_), guest))
        following: dict[str, str] | None = round_.get("next_round")
        return None if following is None else following["round_id"]

    async def _take_places(self, plan_: Plan, stakes: Sequence[c.SeatStake]) -> None:
        for guest, session in {stake.player_id: stake.session_id for stake in stakes}.items():
            await self._channel.ask(c.JoinTable(_table(plan_), guest, session_id=session))
            self._summary.joined += 1

    async def _finish(
        self, plan_: Plan, stakes: Sequence[c.SeatStake], round_: dict[str, Any], *, last: bool
    ) -> dict[str, Any]:
        """Decide for all, or let the clock decide, or have the round declared void."""
        if plan_.timed:
            self._summary.timed += 1
            return await self._channel.timed_out(round_["round_id"])
        for decided in range(len(stakes)):
            if decided == plan_.void_after:
                return await self._channel.ask(c.VoidRound(round_["round_id"], "malfunction"))
            round_ = await self._decide(plan_, round_, last=last or decided + 1 < len(stakes))
            if decided == 0 and len(stakes) > 1:
                await self._be_refused(plan_, stakes[0], "decision", round_=round_)
        return round_

    def _name(self, guest: int, plan_: Plan) -> str:
        return f"{self._run}-{self.number}-{guest}-{plan_.house.currency}"

    async def _bring_money(self, stakes: Sequence[c.SeatStake], plan_: Plan) -> None:
        """See to it that everybody can pay for the round, come what may: ante, fee, raise and side bets."""
        needed: Counter[str] = Counter()
        for stake in stakes:
            raised = stake.ante * plan_.house.ruleset.play.raise_multiple
            needed[stake.player_id] += 2 * stake.ante + raised + sum(stake.side_bets.values())
        for player_id, amount in needed.items():
            if player_id not in self._funds:
                await self._channel.ask(
                    c.OpenPlayer(player_id, ids.pseudonym(), plan_.house.currency, "test")
                )
            if self._funds[player_id] < amount + VISIT // 100:
                await self._transfer(c.Deposit, player_id, amount + VISIT)
            self._funds[player_id] -= amount

    async def _transfer(self, kind: type[c.Deposit | c.Withdraw], player_id: str, amount: int) -> None:
        self._transfers += 1
        reference = f"{self._run}-{self.number}-{self._transfers}"
        command = kind(player_id, amount, reference, ids.transaction_id())
        await self._channel.ask(command)
        if isinstance(command, c.Deposit):
            self._brought = command
        signed = amount if kind is c.Deposit else -amount
        self._funds[player_id] += signed
        self._summary.cashier[player_id.rpartition("-")[2]] += signed

    async def _deal(self, plan_: Plan, stakes: Sequence[c.SeatStake], round_id: str | None) -> dict[str, Any]:
        table_id = _table(plan_)
        if plan_.opening == "at_once":
            return await self._channel.ask(c.OpenRound(_new_id(), table_id, tuple(stakes), deal=True))
        if round_id is None:
            round_id = (await self._channel.ask(c.OpenRound(_new_id(), table_id)))["round_id"]
        if plan_.opening == "seeded":
            return await self._channel.ask(c.PlaceAntes(round_id, tuple(stakes), deal=True))
        for stake in stakes:
            await self._channel.ask(c.PlaceAntes(round_id, (stake,)))
        return await self._channel.ask(c.DealCards(round_id))

    async def _decide(self, plan_: Plan, round_: dict[str, Any], *, last: bool) -> dict[str, Any]:
        """Take the decision of a seat that has one to take, which may be to buy a card first."""
        seat = plan_.dice.choice([seat for seat in round_["seats"] if seat["options"]])
        opens = plan_.open_next and not last
        while True:
            action, discard = decides(seat["cards"], seat["options"], plan_.dice)
            command = c.Decide(round_["round_id"], seat["seat"], action, discard)
            if opens and action != "exchange":
                command = replace(command, open_next=True, next_round_id=_new_id())
            round_ = await self._channel.ask(command)
            if action != "exchange":
                return round_
            (seat,) = [found for found in round_["seats"] if found["seat"] == seat["seat"]]

    async def _be_refused(
        self, plan_: Plan, stake: c.SeatStake, *kinds: str, round_: dict[str, Any] | None = None
    ) -> None:
        """Ask for what cannot be, if the plan has it now, and count the refusal. Raises UnexpectedError."""
        if plan_.bad not in kinds:
            return
        command = _bad_request(plan_, stake, round_, self._brought)
        try:
            await self._channel.ask(command)
        except RefusedError as refused:
            if refused.code != EXPECTED[plan_.bad]:
                raise
            self._summary.refusals[refused.code] += 1
        else:
            raise UnexpectedError(f"the ledger took a bad request: {plan_.bad}")


def _table(plan_: Plan) -> str:
    return plan_.house.timed_table_id if plan_.timed else plan_.house.table_id


def _bad_request(
    plan_: Plan, stake: c.SeatStake, round_: dict[str, Any] | None, brought: c.Deposit | None
) -> c.Command:
    """Return the plan's bad request: of a stake before the cards, of a round after them, or of money."""
    if plan_.bad == "withdrawal" or brought is None:
        return c.Withdraw(stake.player_id, AMOUNT_MAX, f"{stake.player_id}-too-much", ids.transaction_id())
    if plan_.bad == "deposit":
        return replace(brought, amount=brought.amount + 1)
    if round_ is None:
        return _bad_opening(plan_, replace(stake, client_seed=None))
    if plan_.bad == "finished":
        return c.VoidRound(round_["round_id"], "malfunction")
    decided = next(seat["seat"] for seat in round_["seats"] if "decision" in seat)
    return c.Decide(round_["round_id"], decided, "raise")


def _bad_opening(plan_: Plan, stake: c.SeatStake) -> c.Command:
    table_id = plan_.house.table_id
    seats: dict[str, tuple[c.SeatStake, ...]] = {
        "ante": (replace(stake, ante=MAX_ANTE + 1),),
        "side_bet": (replace(stake, side_bets={"insurance": MIN_ANTE}),),
        "player": (replace(stake, player_id=f"{stake.player_id}-stranger"),),
        "seat": (stake, stake),
        "table": (stake,),
    }
    if plan_.bad == "table":
        table_id = f"{table_id}-elsewhere"
    return c.OpenRound(_new_id(), table_id, seats[plan_.bad or ""], deal=True)


def _new_id() -> str:
    return ids.round_id(system_clock())
