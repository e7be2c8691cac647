"""What was projected, row by row, while the events are folded: postings and the records of rounds.

As far as each projection has come: what it does not have yet, it cannot have wrong.
"""

from __future__ import annotations

from typing import Any, Final

from infrastructure.checking import sums
from infrastructure.checking.books import Books
from infrastructure.checking.exact import MINOR
from infrastructure.checking.legs import DIVERTED, METER, ON_GAME, OVERFLOW, WALLET
from infrastructure.checking.reading import Ledger
from infrastructure.checking.sums import Sums

_POSITIONS: Final = "SELECT name, position FROM {read}.projections WHERE live"
_POSTINGS: Final = """
    SELECT w.player, w.position, p.wallet, p.on_game, p.balance, p.on_game_after
    FROM unnest(%s::text[], %s::bigint[]) AS w (player, position)
    LEFT JOIN {read}.postings AS p ON p.player = w.player AND p.position = w.position"""
_RECORDS: Final = """
    SELECT round_id, seat, ante, raise, fee, side_bets, returned, game_win, jackpot_win, balance_after
    FROM {read}.round_records WHERE round_id = ANY (%s)"""


class Projected:
    """The comparison of one check; it begins with how far the projections have come."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        positions: dict[str, int] = dict(ledger.rows(_POSITIONS))
        self._postings = positions.get("postings", 0)
        self._records = positions.get("round_records", 0)
        self._posted = 0

    def compare(self, books: Books) -> None:
        """Compare what was folded since the last time."""
        self._compare_postings(books)
        self._compare_records(books)

    def _compare_postings(self, books: Books) -> None:
        posted, books.posted = books.posted, []
        posted = [each for each in posted if each[1] <= self._postings]
        if not posted:
            return
        self._posted += len(posted)
        players, positions = [each[0] for each in posted], [each[1] for each in posted]
        for due, row in zip(posted, self._ledger.rows(_POSTINGS, players, positions), strict=True):
            if row != due:
                books.findings.add(
                    "postings", due[1], f"{due[0]} is posted as {row[2:]}, the event says {due[2:]}"
                )

    def _compare_records(self, books: Books) -> None:
        finished, books.finished = books.finished, []
        finished = [each for each in finished if each[1] <= self._records]
        if not finished:
            return
        rows: dict[tuple[str, int], tuple[Any, ...]] = {}
        for round_id, seat, *figures in self._ledger.rows(_RECORDS, [each[0] for each in finished]):
            rows[round_id, seat] = tuple(figures)
        for round_id, position, round_ in finished:
            for number, seat in round_.seats.items():
                row = rows.pop((round_id, number), None)
                if row != seat.record():
                    detail = f"seat {number} of round {round_id} is {row}, its events say {seat.record()}"
                    books.findings.add("round_records", position, detail)
        for round_id, number in rows:
            books.findings.add("round_records", books.position, f"round {round_id} has no seat {number}")

    def compare_whole(self, books: Books) -> None:
        """Compare what only the end tells: that nothing is there which no event made; inside the snapshot."""
        positions: dict[str, int] = dict(self._ledger.rows(_POSITIONS))
        ((count,),) = self._ledger.rows(
            "SELECT count(*) FROM {read}.postings WHERE position <= %s", self._postings
        )
        if count != self._posted:
            detail = f"there are {count} postings up to {self._postings}, {self._posted} events moved money"
            books.findings.add("postings", books.position, detail)
        if positions.get("trial_balance") == books.position:
            differ = sums.unlike(sums_of(books), sums.projected(self._ledger))
            if differ:
                detail = f"these are projected otherwise: {sums.named(differ)}"
                books.findings.add("trial_balance", books.position, detail)


def sums_of(books: Books) -> Sums:
    """Return what all accounts hold together."""
    whole: Sums = Sums()
    for wallet in books.wallets.values():
        of = (wallet.account_class, wallet.currency, "")
        whole[(WALLET, *of)] += wallet.balance * MINOR
        whole[(ON_GAME, *of)] += wallet.on_game * MINOR
    for (account, currency), amount in books.accounts.items():
        kind, _, account_class = account.partition(":")
        whole[kind, account_class, currency, ""] += amount
    for jackpot_id, jackpot in books.jackpots.items():
        for kind, amount in (
            (METER, jackpot.meter),
            (OVERFLOW, jackpot.overflow),
            (DIVERTED, jackpot.diverted),
        ):
            whole[kind, jackpot.account_class, jackpot.currency, jackpot_id] += amount
    return whole
