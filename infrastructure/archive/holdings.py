"""What every wallet and account holds, carried from the beginning of a day to its end by the day's events.

What a day changes is added up by player; when more players than fit into memory have moved, what there is
goes to a temporary file in their order. At the end all of it is merged with the balances the day began with,
which are in the same order. Nothing here looks at the ledger's own tables.
"""

from __future__ import annotations

import heapq
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from typing import IO, Any, Final, NamedTuple

import orjson

from domain.accounts import JACKPOTS
from domain.money import EXACT
from domain.postings import CASHIER, HOUSE, JACKPOT, ON_GAME, WALLET
from infrastructure.archive.layout import Balance
from infrastructure.archive.manifest import ArchiveError
from infrastructure.projections.kinds import Happened
from infrastructure.projections.movements import MONEY, Movement, movement
from infrastructure.projections.round_facts import RoundFacts

MOVED_MAX: Final = 200_000
"""How many players' movements are in memory: some 80 MB."""
STREAM_OF_WALLET: Final = "wallet-"
_STREAM_OF_JACKPOT: Final = "jackpot-"
PLAYERS: Final = frozenset((WALLET, ON_GAME))
"""The kinds of account that are a player's."""

_Account = tuple[str, str, str, str]
"""Kind, owner, currency, account class."""


class _Moved(NamedTuple):
    """What a day, or a part of it, did to a player. Amounts in minor units.

    `cashier` is what came in (negative) and went out. `after` is what the last event, at `position`, says
    that the wallet holds, `version` of the last event in the wallet's stream; None where there is none.
    """

    wallet: int = 0
    on_game: int = 0
    cashier: int = 0
    position: int = 0
    after: int | None = None
    version: int | None = None
    currency: str | None = None
    account_class: str | None = None


class Holdings:
    """The movements of a day. `accounts` are the balances it begins with that are no player's.

    At most `moved_max` players are in memory.
    """

    def __init__(self, accounts: Iterable[Balance], moved_max: int = MOVED_MAX) -> None:
        self._accounts: dict[_Account, int] = {}
        self._jackpots: dict[str, tuple[str, str]] = {}
        for kind, owner, currency, account_class, balance, _ in accounts:
            self._accounts[kind, owner, currency, account_class] = balance
            if kind == JACKPOT:
                self._jackpots[owner] = account_class, currency
        self._moved_max = moved_max
        self._moved: dict[str, list[Any]] = {}
        self._runs: list[IO[bytes]] = []

    def close(self) -> None:
        """Let go of the temporary files."""
        for run in self._runs:
            run.close()

    def take(self, happened: Happened, facts: RoundFacts | None) -> None:
        """Take in an event; `facts` are its round's, this event included. Raises Poison, ArchiveError."""
        position, _, stream, version, type_, data, _ = happened
        if facts is not None:
            if facts.moved is not None:
                self._move(position, facts.place, facts.moved, data)
            return
        if stream.startswith(STREAM_OF_WALLET):
            player = self._player(stream.removeprefix(STREAM_OF_WALLET))
            player[5] = version
            if type_ == "WalletOpened":
                player[6:8] = data["currency"], data["account_class"]
        elif type_ == "JackpotOpened":
            self._jackpots[data["jackpot_id"]] = data["account_class"], data["currency"]
            self._book(JACKPOT, data["jackpot_id"], data["currency"], data["account_class"], 0)
        if type_ in MONEY and (moved := movement(happened)) is not None:
            place = ("", "", JACKPOTS)
            if stream.startswith(_STREAM_OF_JACKPOT):
                known = self._jackpots.get(stream.removeprefix(_STREAM_OF_JACKPOT))
                if known is None:
                    raise ArchiveError(f"position {position}: the jackpot was never opened")
                place = (*known, JACKPOTS)
            self._move(position, place, moved, data)

    def closing(self, opening: Iterable[Balance]) -> Iterator[Balance]:
        """What is held at the end. `opening` has the players' rows the day began with. Call it once.

        Raises ArchiveError where an event says that a wallet holds something else, and where the accounts of
        a currency do not add up to zero.
        """
        sums: Counter[tuple[str, str]] = Counter()
        parts = heapq.merge(
            _as_movements(opening), *map(_read, self._runs), self._in_order(), key=itemgetter(0)
        )
        for player, of_player in groupby(parts, key=itemgetter(0)):
            for row in self._of_player(player, [_Moved(*moved) for _, moved in of_player]):
                sums[row.currency, row.account_class] += row.balance
                yield row
        for (kind, owner, currency, account_class), balance in sorted(self._accounts.items()):
            sums[currency, account_class] += balance
            yield Balance(kind, owner, currency, account_class, balance, None)
        for (currency, account_class), total in sorted(sums.items()):
            if total:
                raise ArchiveError(f"the {account_class} accounts in {currency} add up to {total}, not zero")

    def _of_player(self, player: str, parts: list[_Moved]) -> Iterator[Balance]:
        """What a player holds at the end; `parts` in the order of their events."""
        wallets, on_games, cashiers, positions, *latest = zip(*parts, strict=True)
        wallet, on_game, cashier = sum(wallets), sum(on_games), sum(cashiers)
        said, version, currency, account_class = map(_latest, latest)
        if currency is None or account_class is None:
            raise ArchiveError(f"the wallet of {player} was never opened")
        if said is not None and said != wallet:
            raise ArchiveError(f"position {max(positions)}: {player} holds {wallet}, not {said}")
        if cashier:
            self._book(CASHIER, "", currency, account_class, cashier * EXACT)
        yield Balance(WALLET, player, currency, account_class, wallet * EXACT, version)
        if on_game:
            yield Balance(ON_GAME, player, currency, account_class, on_game * EXACT, None)

    def _move(
        self, position: int, place: tuple[str, str, str], moved: Movement, data: dict[str, Any]
    ) -> None:
        account_class, currency, game = place
        player = None
        if moved.player:
            player = self._player(moved.player)
            player[0] += moved.wallet
            player[1] += moved.on_game
            before, after = player[4], data["balance_after"]
            if before is not None and before + moved.wallet != after:
                holds = before + moved.wallet
                raise ArchiveError(f"position {position}: {moved.player} holds {holds}, not {after}")
            player[3:5] = position, after
        for kind, owner, amount in moved.others:
            if kind == CASHIER and player is not None:
                player[2] += amount // EXACT
            else:
                self._book(kind, game if kind == HOUSE else owner, currency, account_class, amount)

    def _player(self, player: str) -> list[Any]:
        found = self._moved.get(player)
        if found is None:
            if len(self._moved) >= self._moved_max:
                self._lay_down()
            found = self._moved[player] = list(_Moved())
        return found

    def _book(self, kind: str, owner: str, currency: str, account_class: str, amount: int) -> None:
        key = kind, owner, currency, account_class
        self._accounts[key] = self._accounts.get(key, 0) + amount

    def _in_order(self) -> Iterator[tuple[str, Any]]:
        return iter(sorted(self._moved.items()))

    def _lay_down(self) -> None:
        run = tempfile.TemporaryFile()  # noqa: SIM115 - it is read later, and closed with all others
        self._runs.append(run)
        for entry in self._in_order():
            run.write(orjson.dumps(entry) + b"\n")
        run.seek(0)
        self._moved.clear()


def _latest(values: Iterable[Any]) -> Any:
    """The last of them that is something."""
    return next((value for value in reversed([*values]) if value is not None), None)


def _as_movements(opening: Iterable[Balance]) -> Iterator[tuple[str, Any]]:
    """What players began with, as if it had come to them out of nothing."""
    for player, rows in groupby(opening, key=itemgetter(1)):
        wallet, *on_game = rows
        yield (
            player,
            (
                wallet.balance // EXACT,
                sum(row.balance for row in on_game) // EXACT,
                0,
                0,
                None,
                wallet.version,
                wallet.currency,
                wallet.account_class,
            ),
        )


def _read(run: IO[bytes]) -> Iterator[tuple[str, Any]]:
    for line in run:
        player, moved = orjson.loads(line)
        yield player, moved
