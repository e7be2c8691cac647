"""Tables: opened, closed, joined, and set to a version of a house's rules."""

from __future__ import annotations

from typing import Any, Final
from zoneinfo import ZoneInfo

from domain import events as ev
from domain.betting import HEADROOM
from domain.commands import (
    ActivateRuleset,
    CloseTable,
    JoinTable,
    LeaveTable,
    OpenTable,
    ReopenTable,
)
from domain.money import AMOUNT_MAX
from domain.rejections import Rejection
from domain.rules import Rules, RulesError
from domain.work import Table, Work


def open_table(command: OpenTable, work: Work) -> dict[str, Any]:
    """Open a table on the newest version of a rule set.

    Rejects with table_exists, ruleset_not_found, jackpot_not_found, currency_mismatch,
    jackpot_retired, account_class_mismatch, validation_failed, amount_out_of_range.
    """
    if command.table_id in work.tables:
        raise Rejection("table_exists", f"Table {command.table_id} exists already.")
    published = work.ruleset(command.ruleset)
    parameters = _parameters(command)
    _check_jackpot(command, work)
    parallel = (
        command.parallel_rounds if command.parallel_rounds is not None else command.deal_source == "rng"
    )
    table = Table(
        command.table_id,
        published.ref,
        command.currency,
        command.account_class,
        command.deal_source,
        parallel,
        parameters,
        command.jackpot_id,
    )
    _check_rules(work, table, published.ref)
    work.tables[table.table_id] = table
    _touch(work, table)
    opened = ev.TableOpened(
        table.table_id,
        table.ruleset,
        table.currency,
        table.account_class,
        table.deal_source,
        parallel,
        parameters,
        table.jackpot_id,
    )
    work.emit(f"table-{table.table_id}", 1, opened)
    return table_answer(table)


def table_answer(table: Table) -> dict[str, Any]:
    """A table as the HTTP contract shows it."""
    names = {name: getattr(table.parameters, name) for name in ev.TableParameters.__slots__}
    parameters = {
        name: value
        for name, value in names.items()
        if name not in ("min_ante", "max_ante") and value is not None
    }
    view = {
        "table_id": table.table_id,
        "ruleset": {"id": table.ruleset.id, "version": table.ruleset.version, "sha256": table.ruleset.sha256},
        "currency": table.currency,
        "min_ante": table.parameters.min_ante,
        "max_ante": table.parameters.max_ante,
        "deal_source": table.deal_source,
        "parallel_rounds": table.parallel_rounds,
        "account_class": table.account_class,
        "parameters": parameters,
        "open": table.open,
        "players": len(table.places),
    }
    if table.jackpot_id is not None:
        view["jackpot_id"] = table.jackpot_id
    if table.open_round is not None:
        view["open_round"] = table.open_round
    return view


def close_table(command: CloseTable, work: Work) -> dict[str, Any]:
    """Take no new rounds.

    An open one goes on. Closing a closed table changes nothing. Rejects with table_not_found.
    """
    table = work.table(command.table_id)
    if table.open:
        table.open = False
        _emit(work, table, ev.TableClosed(table.table_id))
    return table_answer(table)


def reopen_table(command: ReopenTable, work: Work) -> dict[str, Any]:
    """Take rounds again. Opening an open table changes nothing. Rejects with table_not_found."""
    table = work.table(command.table_id)
    if not table.open:
        table.open = True
        _emit(work, table, ev.TableReopened(table.table_id))
    return table_answer(table)


def activate_ruleset(command: ActivateRuleset, work: Work) -> dict[str, Any]:
    """Play the table's new rounds by a published version; open rounds keep theirs (G7).

    Rejects with table_not_found, ruleset_not_found, validation_failed, currency_mismatch.
    """
    table = work.table(command.table_id)
    published = work.ruleset(command.ruleset, command.version)
    _check_rules(work, table, published.ref)
    if table.ruleset != published.ref:
        table.ruleset = published.ref
        _emit(work, table, ev.RulesetActivated(table.table_id, published.ref))
    return table_answer(table)


def join_table(command: JoinTable, work: Work) -> dict[str, Any]:
    """Take a place, or another seat.

    Rejects with table_not_found, table_closed, player_not_found, seat_taken, table_full, …_mismatch.
    """
    table = work.table(command.table_id)
    wallet = work.wallet_of(command.player_id)
    if not table.open:
        raise Rejection("table_closed", f"Table {table.table_id} takes no players.")
    if wallet.currency != table.currency:
        raise Rejection(
            "currency_mismatch", f"The table plays in {table.currency}, the wallet holds {wallet.currency}."
        )
    if wallet.account_class != table.account_class:
        raise Rejection("account_class_mismatch", f"The table is for {table.account_class} accounts.")
    seats = work.rulesets[table.ruleset.id][table.ruleset.version].ruleset.seating.seats
    others = {player: seat for player, seat in table.places.items() if player != wallet.player}
    if command.seat is not None and not 1 <= command.seat <= seats:
        raise Rejection("validation_failed", f"Seats are numbered 1 to {seats}.", seat=command.seat)
    if command.seat is not None and command.seat in others.values():
        raise Rejection("seat_taken", f"Seat {command.seat} is taken.", seat=command.seat)
    if not table.parallel_rounds and len(others) >= seats:
        raise Rejection("table_full", f"The house seats {seats} at most.")
    if len(others) >= PLACES_MAX:
        raise Rejection("table_full", f"A table holds {PLACES_MAX} players at most.")
    table.places[wallet.player] = command.seat
    _emit(work, table, ev.PlayerJoined(table.table_id, wallet.player, command.seat, command.session_id))
    return table_answer(table)


PLACES_MAX: Final = 5000
"""How many players can have joined one table: the table's state is one row."""


def leave_table(command: LeaveTable, work: Work) -> dict[str, Any]:
    """Give up the place.

    Who has none changes nothing. Rejects with table_not_found, player_not_found, round_unfinished.
    """
    table = work.table(command.table_id)
    wallet = work.wallet_of(command.player_id)
    unfinished = wallet.unfinished.get(table.table_id)
    if unfinished is not None:
        raise Rejection(
            "round_unfinished", f"The player's round {unfinished} is not finished.", round_id=unfinished
        )
    if wallet.player in table.places:
        del table.places[wallet.player]
        _emit(work, table, ev.PlayerLeft(table.table_id, wallet.player))
    return table_answer(table)


def _parameters(command: OpenTable) -> ev.TableParameters:
    amounts = (
        command.min_ante,
        command.max_ante,
        command.min_side_bet,
        command.max_side_bet,
        command.raise_win_cap,
        command.bonus_stake,
    )
    if any(amount is not None and not 1 <= amount <= AMOUNT_MAX for amount in amounts):
        raise Rejection("amount_out_of_range", f"A table's amounts are 1 to {AMOUNT_MAX} minor units.")
    try:
        ZoneInfo(command.zone)
    except (ValueError, OSError, KeyError):
        raise Rejection("validation_failed", "The zone is not an IANA time zone.", parameter="zone") from None
    return ev.TableParameters(
        min_ante=command.min_ante,
        max_ante=command.max_ante,
        zone=command.zone,
        cutoff_hour=command.cutoff_hour,
        min_side_bet=command.min_side_bet if command.min_side_bet is not None else command.min_ante,
        max_side_bet=command.max_side_bet if command.max_side_bet is not None else command.max_ante,
        raise_win_cap=command.raise_win_cap,
        bonus_stake=command.bonus_stake,
        decision_seconds=command.decision_seconds,
    )


def _check_jackpot(command: OpenTable, work: Work) -> None:
    if command.jackpot_id is None:
        return
    jackpot = work.jackpot(command.jackpot_id)
    if jackpot.retired:
        raise Rejection("jackpot_retired", f"Jackpot {command.jackpot_id} is retired.")
    if jackpot.currency != command.currency:
        raise Rejection(
            "currency_mismatch", f"The jackpot is in {jackpot.currency}, the table in {command.currency}."
        )
    if jackpot.account_class != command.account_class:
        raise Rejection("account_class_mismatch", f"The jackpot is for {jackpot.account_class} accounts.")


def _check_rules(work: Work, table: Table, ref: ev.RulesetRef) -> None:
    ruleset = work.rulesets[ref.id][ref.version].ruleset
    if table.currency not in ruleset.currencies:
        raise Rejection("currency_mismatch", f"{ref.id} is played in {', '.join(ruleset.currencies)}.")
    try:
        rules = work.rules(ref, table.currency, table.parameters, has_jackpot=table.jackpot_id is not None)
    except RulesError as error:
        raise Rejection("validation_failed", f"The table does not fit the house: {error}.") from None
    if _most_won(rules, table.parameters) > HEADROOM:
        raise Rejection(
            "amount_out_of_range", "The limits are too high: a round could win more than a wallet can hold."
        )


def _most_won(rules: Rules, limits: ev.TableParameters) -> int:
    """The most a player can win in one round, but for a jackpot, whose meter has bounds of its own."""
    won = limits.max_ante * rules.raise_multiple * max(rules.raise_pays.values())
    if rules.raise_win_cap is not None:
        won = min(won, rules.raise_win_cap)
    won += limits.max_ante
    for bet in rules.side_bets.values():
        won += (bet.stake or limits.max_side_bet) * max(bet.pays.values(), default=0)
        won += max((award.fixed or 0 for award in bet.awards.values()), default=0)
    return won * rules.hands_per_player


def _touch(work: Work, table: Table) -> None:
    work.touched_tables.add(table.table_id)


def _emit(work: Work, table: Table, event: ev.Event) -> None:
    table.version += 1
    _touch(work, table)
    work.emit(f"table-{table.table_id}", table.version, event)
