"""The books a second time, as plainly as their meaning can be said: players, postings, accounts, jackpots.

Nothing here shares code with the projections. They read raw data in batches and remember sums; this reads
decoded events, all of them, over and over, and asks `domain.postings` for the legs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from datetime import UTC, datetime, timedelta
from typing import Any

from domain import events as ev
from domain.accounts import account_name
from domain.envelope import Recorded
from domain.money import EXACT, parse_exact
from domain.postings import CASHIER, DIVERSION, HOUSE, JACKPOT, ON_GAME, OVERFLOW, WALLET, Leg, legs
from infrastructure.ledger.memory import MemoryLedger
from infrastructure.ledger.stored_form import decode

Rows = list[dict[str, Any]]
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_POOLS = (JACKPOT, OVERFLOW, DIVERSION)


def exact(text: str | None) -> int:
    """Return an exact amount, 0 for none."""
    return parse_exact(text) if text else 0


def us(moment: datetime) -> int:
    """Return microseconds since the epoch."""
    return (moment - EPOCH) // timedelta(microseconds=1)


class NaiveBooks:
    """What all tables should hold. Each method returns a table's rows by column, in no order."""

    def __init__(self, ledger: MemoryLedger) -> None:
        self.all = [decode(row.data) for row in ledger.events]
        self.rounds: dict[str, list[Recorded]] = defaultdict(list)
        for each in self.all:
            if each.stream.startswith("round-"):
                self.rounds[each.stream.removeprefix("round-")].append(each)
        self.wallets = {e.player: e for e in self.events(ev.WalletOpened)}
        self.jackpots = {e.jackpot_id: e for e in self.events(ev.JackpotOpened)}

    def events(self, kind: type) -> list[Any]:
        """Return all events of a type."""
        return [each.event for each in self.all if isinstance(each.event, kind)]

    def opened(self, each: Recorded) -> ev.RoundOpened:
        """Return the opening of an event's round."""
        opened = self.rounds[each.stream.removeprefix("round-")][0].event
        assert isinstance(opened, ev.RoundOpened)
        return opened

    # ── Players ─────────────────────────────────────────────────────────────────────────────────────────
    def players(self) -> Rows:
        """Return every wallet's opening."""
        return [
            {
                "player": each.event.player,
                "currency": each.event.currency,
                "account_class": each.event.account_class,
                "position": each.position,
                "at_us": us(each.recorded_at),
            }
            for each in self.all
            if isinstance(each.event, ev.WalletOpened)
        ]

    def player_rounds(self) -> Rows:
        """Return who staked on what."""
        rows = []
        for round_id, (first, *later) in self.rounds.items():
            assert isinstance(first.event, ev.RoundOpened)
            opened = {
                "round_id": round_id,
                "opened_us": us(first.recorded_at),
                "table_id": first.event.table_id,
                "ruleset_id": first.event.ruleset.id,
                "gaming_day": first.event.gaming_day,
            }
            players = {each.event.player for each in later if isinstance(each.event, ev.AntePlaced)}
            rows += [{**opened, "player": player} for player in players]
        return rows

    def postings(self) -> Rows:
        """Return what moved each player's money."""
        kinds = [ev.Deposited, ev.Withdrawn, ev.AntePlaced, ev.SideBetPlaced, ev.Raised, ev.CardExchanged]
        kinds += [ev.Settled, ev.JackpotHit, ev.StakeRefunded]
        held: Counter[tuple[str, str]] = Counter()
        rows = []
        for each in self.all:
            added: Counter[str] = Counter()
            for leg in legs(each.event):
                added["jackpot" if leg.account in _POOLS else leg.account] += leg.amount
                held[leg.account, leg.owner] += leg.amount
            player = next((leg.owner for leg in legs(each.event) if leg.account in (WALLET, ON_GAME)), None)
            if player is None:
                continue
            round_id = each.stream.removeprefix("round-") if each.stream.startswith("round-") else None
            rows.append(
                {
                    "player": player,
                    "position": each.position,
                    "at_us": us(each.recorded_at),
                    "kind": kinds.index(type(each.event)),
                    "wallet": added[WALLET] // EXACT,
                    "on_game": added[ON_GAME] // EXACT,
                    "balance": held[WALLET, player] // EXACT,
                    "on_game_after": held[ON_GAME, player] // EXACT,
                    "house": added[HOUSE],
                    "jackpot": added["jackpot"],
                    "cashier": added[CASHIER],
                    "seat": getattr(each.event, "seat", None),
                    "reference": round_id or each.event.transaction_id,  # type: ignore[union-attr]
                    "actor": each.meta["actor"],
                }
            )
        return rows

    # ── Accounts ────────────────────────────────────────────────────────────────────────────────────────
    def _account(self, each: Recorded, leg: Leg) -> tuple[str, str]:
        """Return the full name and the currency of the account of a leg."""
        kind, _, name = each.stream.partition("-")
        if kind == "round":
            source: Any = self.opened(each)
            game = source.ruleset.id
        else:
            source = self.wallets[name] if kind == "wallet" else self.jackpots[name]
            game = "jackpots"
        name = account_name(leg.account, leg.owner, account_class=source.account_class, game=game)
        return name, source.currency

    def trial_balance(self, until: int) -> dict[tuple[str, str], tuple[int, int]]:
        """Return the balance of each account as of a position, and the position that moved it last."""
        found: dict[tuple[str, str], tuple[int, int]] = {}
        for each in self.all[:until]:
            if isinstance(each.event, ev.JackpotOpened):
                opened = each.event
                name = account_name(JACKPOT, opened.jackpot_id, account_class=opened.account_class)
                found[name, opened.currency] = 0, each.position
            for leg in legs(each.event):
                if leg.amount:
                    account = self._account(each, leg)
                    found[account] = found.get(account, (0, 0))[0] + leg.amount, each.position
        return found

    def trial_balance_now(self) -> Rows:
        """Return the trial balance at the end."""
        return [
            {"account": name, "currency": currency, "balance": balance, "position": position}
            for (name, currency), (balance, position) in self.trial_balance(len(self.all)).items()
        ]

    def snapshots(self) -> Rows:
        """Return every 1024th position."""
        return [
            {"position": each.position, "at_us": us(each.recorded_at)}
            for each in self.all
            if each.position % 1024 == 0
        ]

    def trial_balances(self) -> Rows:
        """Return at every snapshot the accounts that moved since the one before."""
        return [
            {"account": name, "currency": currency, "balance": balance, "position": position}
            for position in range(1024, len(self.all) + 1, 1024)
            for (name, currency), (balance, moved) in self.trial_balance(position).items()
            if moved > position - 1024
        ]

    # ── Jackpots ────────────────────────────────────────────────────────────────────────────────────────
    def jackpot_days(self) -> Rows:
        """Return the movements of each jackpot's pools by date."""
        rows: dict[tuple[str, str], Counter[str]] = {}
        for each in self.all:
            day = each.recorded_at.date().isoformat()
            for jackpot_id, figures in self._movements(each):
                rows.setdefault((jackpot_id, day), Counter()).update(figures)
        return [{"jackpot_id": key[0], "day": key[1], **figures} for key, figures in rows.items()]

    def _movements(self, each: Recorded) -> list[tuple[str, dict[str, int]]]:
        event: Any = each.event
        pools: dict[str, dict[str, int]] = defaultdict(lambda: dict.fromkeys(_POOLS, 0))
        for leg in legs(event):
            if leg.account in _POOLS:
                pools[leg.owner][leg.account] += leg.amount
        names = {"SideBetPlaced": "contributions", "ContributionReversed": "reversed"}
        found = []
        for jackpot_id, pool in pools.items():
            meter, overflow, diversion = (pool[kind] for kind in _POOLS)
            figures = {"meter_net": meter, "overflow_net": overflow, "diversion_net": diversion}
            if type(event).__name__ in names:
                sign, name = (1 if isinstance(event, ev.SideBetPlaced) else -1), names[type(event).__name__]
                figures |= {name: sign * meter, f"overflow_{name}": sign * overflow}
                figures[f"diversion_{name}"] = sign * diversion
                figures["reversed_by_house"] = exact(getattr(event, "from_house", None))
            elif isinstance(event, ev.JackpotOpened):
                figures["seeds"] = meter
            elif isinstance(event, ev.JackpotParametersActivated):
                figures["top_ups"] = meter
            elif isinstance(event, ev.JackpotAdjusted):
                figures |= {"adjusted": meter, "overflow_adjusted": overflow, "diversion_adjusted": diversion}
            elif isinstance(event, ev.JackpotTransferred):
                way, sign = ("out", -1) if jackpot_id == event.jackpot_id else ("in", 1)
                for prefix, amount in (("", meter), ("overflow_", overflow), ("diversion_", diversion)):
                    figures[f"{prefix}transferred_{way}"] = sign * amount
            else:
                assert isinstance(event, ev.JackpotHit)
                figures |= {
                    "hits": 1,
                    "paid": event.award * EXACT,
                    "paid_by_house": event.award * EXACT - exact(event.from_meter),
                    "awards": exact(event.from_meter),
                    "restarts": exact(event.restart),
                    "from_overflow": -overflow,
                    "overflow_released": -overflow,
                    "diversion_restarts": -diversion,
                }
            found.append((jackpot_id, figures))
        return found
