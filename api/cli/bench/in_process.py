"""Full rounds against the writer itself, from clients that are tasks of the same process."""

from __future__ import annotations

import asyncio
import os
import time

from api.cli.bench.figures import Run, latencies
from api.cli.bench.ledger import ANTE, JACKPOT_STAKE, TABLE_WITH_JACKPOT, TABLE_WITHOUT, now_us
from domain import commands as c
from infrastructure import ids
from infrastructure.ledger.submission import ACCEPTED, Submission
from infrastructure.ledger.writer import Writer

FINGERPRINT = b"bench-in-process"


async def play(writer: Writer, name: str, clients: int, rounds: int, *, jackpot: bool) -> Run:
    """Play `rounds` full rounds, two commands each; every client waits for its answers."""
    table = TABLE_WITH_JACKPOT if jackpot else TABLE_WITHOUT
    side_bets = {"jackpot": JACKPOT_STAKE} if jackpot else {}
    left = iter(range(rounds))
    taken: list[float] = []

    async def ask(command: c.Command) -> None:
        before = time.perf_counter()
        result = await writer.submit(Submission(os.urandom(16), FINGERPRINT, command, "bench"))
        taken.append(time.perf_counter() - before)
        if result.outcome != ACCEPTED:
            raise RuntimeError(result.body.decode())

    async def client(number: int) -> None:
        for _ in left:
            round_id = ids.round_id(now_us())
            stake = c.SeatStake(1, f"bench-{number}", ANTE, side_bets)
            await ask(c.OpenRound(round_id, table, (stake,), deal=True))
            await ask(c.Decide(round_id, 1, "raise"))

    before = writer.figures()
    began = time.perf_counter()
    await asyncio.gather(*(client(number) for number in range(clients)))
    seconds = time.perf_counter() - began
    after = writer.figures()
    batches = after.batches - before.batches
    return Run(
        name,
        clients,
        rounds,
        round(seconds, 3),
        round(rounds / seconds, 1),
        latencies(taken),
        round((after.commands - before.commands) / batches, 1),
        round((after.statements - before.statements) / batches, 2),
    )
