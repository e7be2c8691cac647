"""The parts of an audit put together, in order: what only the events before a partition can tell.

Memory is bounded whatever the ledger's size: what is kept of each wallet lies in a temporary file beyond a
bound, and of rounds only those that have not ended.
"""

from __future__ import annotations

from typing import Any, Final, Self

from infrastructure.audit import merged_pots, rounds
from infrastructure.audit.repeats import Repeats, place
from infrastructure.audit.results import (
    Context,
    Figures,
    Opening,
    Outcome,
    PartResult,
    Published,
    Span,
    StoredRow,
    StreamPart,
    WalletPart,
)
from infrastructure.audit.rounds import Round
from infrastructure.checking.exact import MINOR, text
from infrastructure.checking.shelf import Shelf
from infrastructure.evidence.merkle import Frontier

JACKPOTS: Final = "jackpots"
_POOL_ACCOUNTS: Final = ("jackpot", "jackpot_overflow", "jackpot_diversion")
_UNKNOWN: Final = ("", "")


class Merger:
    """Takes the results of partitions in the order of their positions. A context manager."""

    def __init__(self, context: Context, opening: Opening | None = None) -> None:
        self._context = context
        self._rulesets = dict(context.rulesets)
        self._opening = opening
        self._whole = opening is None or opening.position == 0
        self._total = PartResult()
        self._wallets: Shelf[list[Any]] = Shelf(list, list)  # balance, account class, currency
        self._streams: Shelf[list[int]] = Shelf(list, list)
        self._repeats = Repeats()
        self._pots = merged_pots.Pots(self._total, whole=self._whole)
        self._open: dict[str, list[StoredRow]] = {}
        self._published: dict[tuple[str, str], dict[int, Published]] = {}
        self._accounts: dict[tuple[str, str], int] = {}
        self._leaves: Frontier | None = None
        self._roots: dict[int, bytes] = {}
        self._unchecked_rounds = 0
        self._unopened_wallets = 0
        if opening is not None:
            self._total.last = opening.position
            self._open.update(opening.rounds)
            self._leaves = None if opening.leaves is None else opening.leaves.copy()
            for player, balance in (opening.wallets or {}).items():
                self._wallets.add(player, [balance, *_UNKNOWN])
            for jackpot, pools in (opening.pots or {}).items():
                self._pots.begin(jackpot, pools)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Let go of the temporary files."""
        self._wallets.close()
        self._streams.close()
        self._repeats.close()

    # ── One part ────────────────────────────────────────────────────────────────────────────────────────────
    def add(self, part: PartResult) -> None:
        """Take the part that comes next; an empty one changes nothing."""
        if not part.first:
            return
        total = self._total
        self._follow(part)
        total.found += part.found - len(part.findings)
        for finding in part.findings:
            total.differs(*finding)
        for published in part.published:
            self._publish(published)
        for jackpot, pot in part.pots.items():
            account_class, currency = self._pots.take(jackpot, pot, part.bets_elsewhere, self._open)
            if pot.house:
                self._book(f"house:{account_class}:{JACKPOTS}", currency, pot.house)
        for player, wallet in part.wallets.items():
            self._take_wallet(player, wallet)
        for stream, versions in part.streams.items():
            self._take_stream(stream, versions)
        for stream, rows in part.fragments.items():
            self._take_fragment(stream, rows)
        self._add_up(part)
        self._check_pinned(part.pinned)

    def _take_stream(self, stream: str, part: StreamPart) -> None:
        """A stream's versions go on where the part before ended."""
        known = self._streams.get(stream)
        if known is None:
            known = [0 if self._whole else part.first_version - 1]
            self._streams.add(stream, known)
        if part.first_version != known[0] + 1:
            self._total.differs(part.first, "version", known[0] + 1, part.first_version)
        known[0] = part.last_version

    def _follow(self, part: PartResult) -> None:
        """Positions, time and leaves go on where the part before ended."""
        total = self._total
        if not total.first:
            total.first, total.began = part.first, part.began
            expected = 1 if self._opening is None else self._opening.position + 1
        else:
            expected = total.last + 1
        if part.first != expected:
            total.differs(expected, "position", expected, part.first)
        if part.began and total.ended and part.began <= total.ended:
            total.differs(part.first, "recorded_at", f"after {total.ended}", part.began)
        total.last, total.ended = part.last, part.ended or total.ended
        total.events += part.events
        if self._leaves is None:
            self._leaves = Frontier(part.leaves.range.start)
        if self._leaves.end != part.leaves.range.start:
            return  # a gap, which has been told: there is no root any more
        for cut in part.leaves.cuts:
            self._cut(cut)
        self._leaves.join(part.leaves.range)
        if self._leaves.end in self._context.roots_at and not self._leaves.start:
            self._roots[self._leaves.end] = self._leaves.root()

    def _cut(self, cut: Frontier) -> None:
        if self._leaves is not None and not self._leaves.start:
            leaves = self._leaves.copy()
            leaves.join(cut)
            self._roots[leaves.end] = leaves.root()

    # ── Wallets ─────────────────────────────────────────────────────────────────────────────────────────────
    def _take_wallet(self, player: str, part: WalletPart) -> None:
        total = self._total
        wallet = self._wallets.get(player)
        if part.opened is not None:
            if wallet is not None:
                total.differs(part.first, "wallet", "opened once", player)
                return
            self._wallets.add(player, [part.closing, *part.opened])
            wallet = self._wallets.get(player) or []
        elif wallet is None:
            if self._whole or (self._opening is not None and self._opening.wallets is not None):
                total.differs(part.first, "wallet", "one that was opened before", player)
            self._unopened_wallets += 1
            self._wallets.add(player, [part.closing, *(part.played or _UNKNOWN)])
            return
        elif wallet[0] != part.opening:
            total.differs(part.first, "balance_after", wallet[0], part.opening)
        wallet[0] = part.closing
        belongs = wallet[1], wallet[2]
        if belongs == _UNKNOWN and part.played is not None:
            wallet[1:] = belongs = part.played
        if part.played is not None and part.played != belongs:
            total.differs(part.first, "wallet.currency", " ".join(belongs), " ".join(part.played))
        if part.transferred:
            self._book(f"cashier:{wallet[1]}", wallet[2], -part.transferred * MINOR)

    # ── Rounds ──────────────────────────────────────────────────────────────────────────────────────────────
    def _take_fragment(self, stream: str, rows: list[StoredRow]) -> None:
        """Go on with a round that is not all in one part; derive it again once it has ended."""
        before = self._open.pop(stream, None)
        if before is None and b'"type":"RoundOpened"' not in rows[0][3]:
            if self._whole:
                self._total.differs(rows[0][0], "round", "a round that is open", stream)
            else:
                self._unchecked_rounds += 1
            return
        rows = [*(before or ()), *rows]
        round_ = Round.of(rows)
        if not round_.ended or round_.opened is None:
            self._open[stream] = rows
            return
        ruleset = self._rulesets.get(round_.opened.data.ruleset.sha256)
        if ruleset is None:
            self._total.differs(rows[0][0], "ruleset", "one that was published before", stream)
            return
        mine = PartResult()
        rounds.finish(mine, round_, ruleset)
        for finding in mine.findings:
            self._total.differs(*finding)
        self._add_up(mine)
        self._check_pinned(mine.pinned)

    def _add_up(self, part: PartResult) -> None:
        self._repeats.note(part.places)
        for house, figures in part.figures.items():
            self._total.figures.setdefault(house, Figures()).add(figures)
        for (account_class, currency, game), amount in part.house.items():
            self._book(f"house:{account_class}:{game}", currency, amount)

    # ── What rounds rely on ─────────────────────────────────────────────────────────────────────────────────
    def _publish(self, published: Published) -> None:
        if published.kind == "ruleset":
            self._rulesets.setdefault(published.sha256, published.content)
        versions = self._published.setdefault((published.kind, published.id), {})
        if published.version in versions:
            self._total.differs(published.position, published.kind, "a version of its own", published.id)
        versions[published.version] = published

    def _check_pinned(self, pinned: dict[tuple[str, str, int, str], Span]) -> None:
        """Rules and parameters that rounds name have to be those that were published before."""
        for (kind, name, version, sha256), span in pinned.items():
            published = self._published.get((kind, name), {}).get(version)
            if published is None:
                if self._whole:
                    self._total.differs(span.first, kind, f"{name} {version} published before", sha256)
            elif published.sha256 != sha256:
                self._total.differs(span.first, kind, published.sha256, sha256)
            elif published.position > span.first:
                self._total.differs(span.first, kind, f"{name} {version} published before", "after")

    def _book(self, account: str, currency: str, amount: int) -> None:
        key = account, currency
        self._accounts[key] = self._accounts.get(key, 0) + amount

    # ── At the end ──────────────────────────────────────────────────────────────────────────────────────────
    def finish(self) -> Outcome:
        """Add everything up."""
        total = self._total
        self._find_repeats()
        self._book_all()
        if self._whole:
            self._balance()
        if self._leaves is not None and not self._leaves.start:
            self._roots[self._leaves.end] = self._leaves.root()
        return Outcome(
            first=total.first,
            last=total.last,
            began=total.began,
            ended=total.ended,
            events=total.events,
            findings=sorted(total.findings),
            found=total.found,
            figures=total.figures,
            accounts=self._accounts,
            roots=self._roots,
            wallets=self._wallets.count,
            unopened_wallets=self._unopened_wallets,
            pots={name: pools for name, _, pools in self._pots.held()},
            open_rounds=sorted(self._open),
            unchecked_rounds=self._unchecked_rounds,
        )

    def _find_repeats(self) -> None:
        """A stream is one round: whoever writes another one into it plays with a deck that is known."""
        for stream, rows in self._open.items():
            self._repeats.note(place(stream, rows[0][0]))
        for position, first in self._repeats.found():
            self._total.differs(position, "round", "a round of its own", f"the one of position {first} again")

    def _look_at(self, round_: Round, sha256: str) -> None:
        """See that a round that has not ended is right as far as it has come."""
        if (ruleset := self._rulesets.get(sha256)) is None:
            self._total.differs(round_.rows[0][0], "ruleset", "one that was published before", sha256)
            return
        mine = PartResult()
        rounds.look(mine, round_, ruleset, self._total.ended)
        for finding in mine.findings:
            self._total.differs(*finding)

    def _book_all(self) -> None:
        """Book what wallets, jackpots and open rounds hold."""
        for balance, account_class, currency in self._wallets.values():
            self._book(f"wallet:{account_class}", currency, balance * MINOR)
        for name, (account_class, currency), pools in self._pots.held():
            for account, amount in zip(_POOL_ACCOUNTS, pools, strict=True):
                if amount:
                    self._book(f"{account}:{account_class}:{name}", currency, amount)
        for rows in self._open.values():
            self._count_open(rows)

    def _balance(self) -> None:
        """In every currency, all accounts together have to be zero (G1)."""
        sums: dict[str, int] = {}
        for (_, currency), amount in self._accounts.items():
            sums[currency] = sums.get(currency, 0) + amount
        for currency, left in sums.items():
            if left:
                self._total.differs(self._total.last, "trial_balance", f"0 {currency}", text(left))

    def _count_open(self, rows: list[StoredRow]) -> None:
        """What a round that has not ended holds: stakes on game, and the house's advances."""
        round_ = Round.of(rows)
        if round_.opened is not None:
            self._look_at(round_, round_.opened.data.ruleset.sha256)
            account_class, currency, game = round_.house_key
            self._book(f"on_game:{account_class}", currency, round_.on_game * MINOR)
            self._book(f"house:{account_class}:{game}", currency, round_.house)
