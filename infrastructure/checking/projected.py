"""What was projected, row by row, while the events are folded: postings and the records of rounds.

As far as each projection has come: what it does not have yet, it cannot have wrong.
"""

from __future__ import annotations

from typing import Any, Final

from infrastructure.checking import sums
from infrastructure.checking.books import Books
from infrastructure.checking.exact import MINOR
from infrastructure.checking.legs import DIVERTED, METER, ON_GAME, OVERFLOW, WALLET
from infrastructure.checking.posted import posted_otherwise
from infrastructure.checking.reading import Ledger
from infrastructure.checking.sums import Sums

_POSITIONS: Final = "SELECT name, position FROM {read}.projections WHERE live"
_RECORDS: Final = """
    SELECT round_id, seat, ante, raise, fee, side_bets, returned, game_win, jackpot_win, balance_after
    FROM {read}.round_records WHERE round_id = ANY (%s)"""

_FIGURES: Final = (
    "rounds_opened",
    "hands",
    "hands_refunded",
    "antes",
    "raises",
    "side_bets",
    "fees",
    "returned",
    "game_wins",
    "jackpot_wins",
    "refunded",
    "unfinished",
)


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
        self._posted += len(posted)
        for finding in posted_otherwise(self._ledger, posted):
            books.findings.add(*finding)

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
        """Compare what only the end tells; inside the snapshot.

        Nothing may be there that no event made, and where a projection has come as far as the books, its
        figures have to add up to theirs.
        """
        ((count,),) = self._ledger.rows(
            "SELECT count(*) FROM {read}.postings WHERE position <= %s", self._postings
        )
        if count != self._posted:
            detail = f"there are {count} postings up to {self._postings}, {self._posted} events moved money"
            books.findings.add("postings", books.position, detail)
        positions: dict[str, int] = dict(self._ledger.rows(_POSITIONS))
        for name, compare in (
            ("trial_balance", self._compare_balances),
            ("performance", self._compare_performance),
            ("jackpot_days", self._compare_jackpots),
            ("player_rounds", self._compare_player_rounds),
        ):
            if positions.get(name) == books.position and (detail := compare(books)):
                books.findings.add(name, books.position, detail)

    def _compare_balances(self, books: Books) -> str:
        differ = sums.unlike(sums_of(books), sums.projected(self._ledger))
        return f"these are projected otherwise: {sums.named(differ)}" if differ else ""

    def _compare_performance(self, books: Books) -> str:
        due = {key: [figures[name] for name in _FIGURES] for key, figures in books.played.items()}
        for wallet in books.wallets.values():
            key = wallet.account_class, wallet.currency
            if key in due:  # what is staked and not settled is what is on game
                due[key][-1] += wallet.on_game
        columns = ", ".join(f"sum({name})::bigint" for name in _FIGURES)
        rows = self._ledger.rows(
            f"SELECT account_class, currency, {columns} FROM {{read}}.performance GROUP BY 1, 2"  # noqa: S608
        )
        found = {(account_class, currency): figures for account_class, currency, *figures in rows}
        differ = sorted(key for key in due.keys() | found.keys() if due.get(key) != found.get(key))
        return "".join(f"{key} is {found.get(key)}, the events say {due.get(key)}; " for key in differ)

    def _compare_jackpots(self, books: Books) -> str:
        rows = self._ledger.rows(
            "SELECT jackpot_id, sum(meter_net), sum(overflow_net), sum(diversion_net)"
            " FROM {read}.jackpot_days GROUP BY 1"
        )
        found = {jackpot_id: tuple(map(int, pools)) for jackpot_id, *pools in rows}
        due = {
            jackpot_id: (jackpot.meter, jackpot.overflow, jackpot.diverted)
            for jackpot_id, jackpot in books.jackpots.items()
        }
        differ = sorted(key for key in due.keys() | found.keys() if due.get(key) != found.get(key))
        return "".join(f"{key} comes to {found.get(key)}, not {due.get(key)}; " for key in differ)

    def _compare_player_rounds(self, books: Books) -> str:
        ((count,),) = self._ledger.rows("SELECT count(*) FROM {read}.player_rounds")
        due = books.player_rounds
        return "" if count == due else f"{count} rounds of players are listed, {due} were staked on"


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
