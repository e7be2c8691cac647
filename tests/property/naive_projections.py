"""Every projection a second time, told as plainly as its meaning can be said: for small ledgers in a test.

Of rounds, too, nothing here shares code with the projections: they are folded by `domain.round`, and what is
asked of them is looked up in their events each time.
"""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

from domain import events as ev
from domain.envelope import Recorded
from domain.money import exponent
from domain.round import Round, evolve
from tests.property.naive_books import EPOCH, Rows, exact, us
from tests.property.naive_decisions import NaiveDecisions


class Naive(NaiveDecisions):
    """What all tables should hold. Each method returns a table's rows by column, in no order."""

    # ── Games ───────────────────────────────────────────────────────────────────────────────────────────
    def performance(self) -> Rows:
        """Return the figures of every cell: each round adds its own to the cell of its opening."""
        cells: dict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)
        for events in self.rounds.values():
            opened = events[0].event
            assert isinstance(opened, ev.RoundOpened)
            cells[self.cell(opened, events[0])].update(self._figures([each.event for each in events]))
        names = ["gaming_day", "hour_us", "table_id", "ruleset_id", "ruleset_version"]
        names += ["jackpot_id", "jackpot_version", "currency", "account_class"]
        return [{**dict(zip(names, key, strict=True)), **figures} for key, figures in cells.items()]

    def cell(self, opened: ev.RoundOpened, first: Recorded) -> tuple[Any, ...]:
        """Return the cell of a round."""
        return (
            opened.gaming_day,
            hour_of(us(first.recorded_at), opened.parameters.zone),
            opened.table_id,
            opened.ruleset.id,
            opened.ruleset.version,
            opened.jackpot.id if opened.jackpot else "",
            opened.jackpot.version if opened.jackpot else 0,
            opened.currency,
            opened.account_class,
        )

    def _figures(self, events: Sequence[Any]) -> dict[str, int]:
        def of(*kinds: type) -> list[Any]:
            return [event for event in events if isinstance(event, kinds)]

        bets = [bet for event in of(ev.Settled) for bet in event.bets]
        void = of(ev.RoundVoided)
        expired = bool(void) and void[0].cause == "expired"
        reversed_seats = {event.seat for event in of(ev.ContributionReversed)}
        standing = [event for event in of(ev.SideBetPlaced) if event.seat not in reversed_seats]
        staked = sum(event.amount for event in of(ev.AntePlaced, ev.SideBetPlaced, ev.Raised))
        staked += sum(event.fee for event in of(ev.CardExchanged))
        refunded = sum(event.amount for event in of(ev.StakeRefunded))

        def stakes(*names: str) -> int:
            return sum(bet.stake for bet in bets if bet.bet in names)

        return {
            "rounds_opened": 1,
            "rounds_finished": len(of(ev.RoundClosed)),
            "rounds_voided": len(void) - expired,
            "rounds_expired": int(expired),
            "hands": len(of(ev.Settled)),
            "hands_refunded": len(of(ev.StakeRefunded)),
            "antes": stakes("ante"),
            "raises": stakes("raise"),
            "side_bets": stakes("jackpot", "bonus", "five_plus_one"),
            "fees": stakes("exchange_fee"),
            "returned": sum(bet.returned for bet in bets),
            "game_wins": sum(bet.won for bet in bets if bet.bet != "jackpot"),
            "jackpot_wins": sum(event.award for event in of(ev.JackpotHit)),
            "refunded": refunded,
            "unfinished": staked - sum(bet.stake for bet in bets) - refunded,
            "contributions": sum(exact(event.contribution) for event in standing),
            "diversions": sum(exact(event.diversion) for event in standing),
        }

    # ── Sessions ────────────────────────────────────────────────────────────────────────────────────────
    def sessions(self) -> Rows:
        """Return each player's sessions at each table."""
        doings: dict[tuple[str, str], list[Recorded]] = defaultdict(list)
        wanted = (ev.PlayerJoined, ev.PlayerLeft, ev.AntePlaced, ev.Settled, ev.StakeRefunded)
        for each in self.all:
            if isinstance(each.event, wanted):
                in_round = each.stream.startswith("round-")
                table_id = self.opened(each).table_id if in_round else each.event.table_id  # type: ignore[union-attr]
                doings[each.event.player, table_id].append(each)
        return [
            self._session(player, table_id, piece, ended)
            for (player, table_id), events in doings.items()
            for piece, ended in cut(events)
        ]

    def _session(
        self, player: str, table_id: str, piece: Sequence[Recorded], ended: str | None
    ) -> dict[str, Any]:
        bets = [bet for each in piece if isinstance(each.event, ev.Settled) for bet in each.event.bets]
        named = [getattr(each.event, "session_id", None) for each in piece]
        rounds: dict[str, list[Any]] = defaultdict(list)
        for each in piece:
            if isinstance(each.event, (ev.AntePlaced, ev.Settled, ev.StakeRefunded)):
                rounds[each.stream].append(each.event)
        over = {
            stream: events
            for stream, events in rounds.items()
            if 2 * sum(isinstance(event, ev.AntePlaced) for event in events) == len(events)
        }
        void = [events for events in over.values() if any(isinstance(e, ev.StakeRefunded) for e in events)]
        gains = [
            sum(
                bet.returned + bet.won - bet.stake
                for e in events
                if isinstance(e, ev.Settled)
                for bet in e.bets
            )
            for events in over.values()
        ]
        last_us = us(piece[-1].recorded_at)
        return {
            "player": player,
            "table_id": table_id,
            "began_position": piece[0].position,
            "began_us": us(piece[0].recorded_at),
            "last_us": last_us,
            "ended": ended,
            "ended_us": {"left": last_us, "timeout": last_us + 1_800_000_000}.get(ended or ""),
            "session_id": next(filter(None, named), None),
            "hands_open": sum(open_hands(piece)),
            "rounds": len(over) - len(void),
            "rounds_won": sum(gain > 0 for gain in gains),
            "rounds_void": len(void),
            "stakes": sum(bet.stake for bet in bets),
            "returned": sum(bet.returned for bet in bets),
            "game_wins": sum(bet.won for bet in bets if bet.bet != "jackpot"),
            "jackpot_wins": sum(bet.won for bet in bets if bet.bet == "jackpot"),
        }

    # ── Hands ───────────────────────────────────────────────────────────────────────────────────────────
    def round_records(self) -> Rows:
        """Return the record of every seat of every round that has ended."""
        rows = []
        for events in self.rounds.values():
            state: Round | None = None
            for each in events:
                state = evolve(state, each.stream, each.event)
            if state is not None and state.finished:
                rows += [self._record(state, number, events) for number in state.seats]
        return rows

    def _record(self, state: Round, number: int, events: Sequence[Recorded]) -> dict[str, Any]:
        seat, opened = state.seats[number], state.opened

        def at(*kinds: type, mine: bool = True) -> list[Recorded]:
            return [e for e in events if isinstance(e.event, kinds) and (not mine or e.event.seat == number)]  # type: ignore[union-attr]

        def when(*kinds: type, mine: bool = True) -> int | None:
            return next((us(each.recorded_at) for each in at(*kinds, mine=mine)), None)

        (ante,) = at(ev.AntePlaced)
        (end,) = at(ev.Settled, ev.StakeRefunded)
        bought = [each.event for each in at(ev.CardExchanged)]
        refund = end.event if isinstance(end.event, ev.StakeRefunded) else None
        bets: list[list[Any]] = [[b.bet, b.stake, b.stake, 0] for b in refund.bets] if refund else []
        bets += [
            [bet.bet, bet.stake, bet.returned, bet.won, *([] if bet.odds is None else [bet.odds])]
            for bet in (seat.settled.bets if seat.settled else ())
        ]
        placed = [each.event for each in at(ev.SideBetPlaced)]
        hand = "".join(state.hand(seat))
        return {
            "round_id": state.id,
            "seat": number,
            "player": seat.player,
            "opened_position": events[0].position,
            "ended_position": events[-1].position,
            "opened_us": us(events[0].recorded_at),
            "ended_us": us(events[-1].recorded_at),
            "hour_us": hour_of(us(events[0].recorded_at), opened.parameters.zone),
            "placed_us": us(ante.recorded_at),
            "betting_closed_us": when(ev.BettingClosed, mine=False),
            "exchanged_us": when(ev.CardExchanged),
            "decided_us": when(ev.Raised, ev.Folded),
            "revealed_us": when(ev.DealerQualified, mine=False),
            "settled_us": us(end.recorded_at),
            "balance_before": ante.event.balance_after + seat.ante,  # type: ignore[union-attr]
            "balance_after": end.event.balance_after,  # type: ignore[union-attr]
            "ante": seat.ante,
            "raise": seat.raised,
            "fee": seat.fee,
            "side_bets": sum(seat.side_bets.values()),
            "wagered": seat.stakes(),
            "returned": sum(bet[2] for bet in bets),
            "game_win": sum(bet[3] for bet in bets if bet[0] != "jackpot"),
            "jackpot_win": sum(bet[3] for bet in bets if bet[0] == "jackpot"),
            "contribution": sum(exact(event.contribution) for event in placed),
            "diversion": sum(exact(event.diversion) for event in placed),
            "reversed": sum(exact(each.event.amount) for each in at(ev.ContributionReversed)),
            "table_id": opened.table_id,
            "ruleset_id": opened.ruleset.id,
            "ruleset_version": opened.ruleset.version,
            "ruleset_sha256": opened.ruleset.sha256,
            "jackpot_id": opened.jackpot and opened.jackpot.id,
            "jackpot_version": opened.jackpot and opened.jackpot.version,
            "account_class": opened.account_class,
            "currency": opened.currency,
            "gaming_day": day_of(us(events[0].recorded_at), opened.parameters),
            "deal_source": opened.deal_source,
            "rng": opened.rng,
            "build": opened.build,
            "session_id": seat.session_id,
            "channel": seat.channel,
            "status": "cancelled" if state.void_cause else "complete",
            "void_cause": state.void_cause,
            "decision": {"folded": "fold", "raised": "raise"}.get(seat.step),
            "decided_by": seat.decided_by,
            "discard": bought[0].discard if bought else None,
            "drawn": bought[0].drawn if bought else None,
            "exchanged_by": bought[0].decided_by if bought else None,
            "cards": hand or None,
            "category": seat.settled.category if seat.settled else None,
            "result": seat.settled.result if seat.settled else None,
            "shown": seat.settled.shown if seat.settled else None,
            "qualified": state.qualified,
            "dealer_up_cards": "".join(state.up_cards) or None,
            "dealer_cards": "".join(state.dealer) or None,
            "dealer_category": state.dealer_category,
            "jackpot_category": seat.hit.category if seat.hit else None,
            "bets": json.dumps(bets, separators=(",", ":")),
        }

    # ── What is significant ─────────────────────────────────────────────────────────────────────────────
    def significant_events(self) -> Rows:
        """Return what has to be told."""
        return [
            {
                "position": each.position,
                "at_us": us(each.recorded_at),
                "kind": kind,
                "subject": each.stream,
                "account_class": opened and opened.account_class,
                "actor": each.meta["actor"],
                "detail": detail,
            }
            for each in self.all
            for opened in [self.opened(each) if each.stream.startswith("round-") else None]
            for kind, detail in self._significant(each.event, opened)
        ]

    @staticmethod
    def _significant(event: Any, opened: ev.RoundOpened | None) -> Iterable[tuple[str, Any]]:
        """Return the kinds an event is listed as. Its detail is left to tests of its own (``...``)."""
        if isinstance(event, ev.Settled):
            assert opened is not None
            threshold = 10_000 * 10 ** exponent(opened.currency)
            told = {"seat": event.seat, "player": event.player, "currency": opened.currency}
            wagered = sum(bet.stake for bet in event.bets)
            won = sum(bet.won for bet in event.bets if bet.bet != "jackpot")
            amounts = (("large_wager", wagered), ("large_win", won))
            return [(kind, {**told, "amount": amount}) for kind, amount in amounts if amount >= threshold]
        if isinstance(event, ev.RoundVoided):
            return [] if event.cause == "expired" else [("round_voided", ...)]
        listed = {
            ev.LedgerStarted: "ledger_started",
            ev.ClockWentBackwards: "clock_went_backwards",
            ev.RulesetPublished: "ruleset_published",
            ev.RulesetActivated: "ruleset_activated",
            ev.TableOpened: "table_opened",
            ev.TableClosed: "table_closed",
            ev.TableReopened: "table_reopened",
            ev.JackpotOpened: "jackpot_opened",
            ev.JackpotHit: "jackpot_hit",
            ev.JackpotDisabled: "jackpot_disabled",
            ev.JackpotEnabled: "jackpot_enabled",
            ev.JackpotParametersScheduled: "jackpot_parameters_scheduled",
            ev.JackpotParametersActivated: "jackpot_parameters_activated",
            ev.JackpotAdjusted: "jackpot_adjusted",
            ev.JackpotTransferred: "jackpot_transferred",
            ev.JackpotRetired: "jackpot_retired",
            ev.PersonRegistered: "person_registered",
            ev.ActionProposed: "action_proposed",
            ev.ActionApproved: "action_approved",
            ev.ActionRefused: "action_refused",
            ev.ActionExpired: "action_expired",
        }
        return [(listed[type(event)], ...)] if type(event) in listed else []


def hour_of(at_us: int, zone: str) -> int:
    """Return when the clock on the wall began to show this hour, at this offset: minute by minute back."""
    moment = EPOCH + timedelta(microseconds=at_us)
    here = ZoneInfo(zone)
    start = moment.replace(second=0, microsecond=0)

    def shown(at: datetime) -> tuple[Any, ...]:
        local = at.astimezone(here)
        return local.date(), local.hour, local.utcoffset()

    while shown(start - timedelta(minutes=1)) == shown(moment):
        start -= timedelta(minutes=1)
    return us(start)


def day_of(at_us: int, parameters: ev.TableParameters) -> str:
    """Return the gaming day: today's date by the clock on the wall, or yesterday's before the cut-off."""
    local = (EPOCH + timedelta(microseconds=at_us)).astimezone(ZoneInfo(parameters.zone))
    early = local.hour < parameters.cutoff_hour
    return (local.date() - timedelta(days=1 if early else 0)).isoformat()


def cut(events: Sequence[Recorded]) -> list[tuple[Sequence[Recorded], str | None]]:
    """Cut what a player did at a table into sessions, each with how it ended, where that has shown."""
    pieces: list[tuple[list[Recorded], str | None]] = []
    for each in events:
        going_on = bool(pieces) and pieces[-1][1] is None
        if going_on:
            piece = pieces[-1][0]
            idle = us(each.recorded_at) - us(piece[-1].recorded_at) >= 1_800_000_000
            if idle and not sum(open_hands(piece)):
                pieces[-1] = piece, "timeout"
                going_on = False
        if isinstance(each.event, ev.PlayerLeft):
            if going_on:
                pieces[-1] = [*pieces[-1][0], each], "left"
        elif going_on:
            pieces[-1][0].append(each)
        else:
            pieces.append(([each], None))
    return [(piece, ended) for piece, ended in pieces]


def open_hands(events: Iterable[Recorded]) -> list[int]:
    """Return 1 for each hand that begins and -1 for each that ends."""
    signs = {ev.AntePlaced: 1, ev.Settled: -1, ev.StakeRefunded: -1}
    return [signs.get(type(each.event), 0) for each in events]
