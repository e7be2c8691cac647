"""Opening a round and taking stakes: everything is checked for every seat before the first event."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from domain import events as ev
from domain.calendar import gaming_day
from domain.commands import OpenRound, PlaceAntes, SeatStake
from domain.dealing import deal_from_deck
from domain.jackpots import METER_MAX, ceiling_exact, room
from domain.money import BALANCE_MAX, EXACT, contribution_exact, exact_text, parse_share
from domain.rejections import Rejection
from domain.round import Round
from domain.rules import Rules
from domain.software import require_software
from domain.views import round_answer
from domain.work import Table, Wallet, Work, deck_pins

UNSTAKED_ROUND_SECONDS: Final = 900
"""How long a round waits for its first stake, and, at a table with time-outs, a staked one for its deal."""
HEADROOM: Final = 10**15
"""What a wallet must be able to take in.

The most that a round can pay, so that no settlement ever meets the bound on balances.
"""


def open_round(command: OpenRound, work: Work) -> dict[str, Any]:
    """Open a round and place its stakes. Returns the round.

    Rejects with software_mismatch, table_not_found, table_closed, round_open, validation_failed and whatever
    `place_antes` rejects with.
    """
    require_software(work)
    table = work.table(command.table_id)
    if not table.open:
        raise Rejection("table_closed", f"Table {table.table_id} takes no new rounds.")
    if table.open_round is not None:
        detail = f"Table {table.table_id} has one round at a time; {table.open_round} is not finished."
        raise Rejection("round_open", detail, round_id=table.open_round)
    if any(seat.client_seed is not None for seat in command.seats):
        raise Rejection(
            "validation_failed",
            "A client seed is taken only after the commitment is known: place the ante in an open round.",
        )
    rules = work.rules(
        table.ruleset, table.currency, table.parameters, has_jackpot=table.jackpot_id is not None
    )
    _check_stakes(work, table, None, rules, command.seats)
    _check_deal(table, command.seats, deal=command.deal)
    _emit_opened(work, table, command.round_id)
    _emit_stakes(work, table, command.round_id, rules, command.seats)
    if command.deal:
        deal_from_deck(work, command.round_id)
    return round_answer(work, command.round_id, [seat.seat for seat in command.seats])


def place_antes(command: PlaceAntes, work: Work) -> dict[str, Any]:
    """Place stakes in a round that is betting; with `deal`, close betting and deal.

    Rejects with round_not_found, wrong_phase, seat_taken, table_full, player_not_found,
    currency_mismatch, account_class_mismatch, round_unfinished, ante_out_of_limits, unknown_side_bet,
    side_bet_stake, jackpot_disabled, insufficient_funds, amount_out_of_range.
    """
    round_ = work.round(command.round_id)
    if round_.phase != "betting":
        raise Rejection(
            "wrong_phase",
            f"Round {round_.id} is {round_.phase}: stakes are taken while it is betting.",
            phase=round_.phase,
        )
    table = work.table(round_.opened.table_id)
    rules = work.rules_of(round_)
    _check_stakes(work, table, round_, rules, command.seats)
    _check_deal(table, command.seats or round_.seats, deal=command.deal)
    _emit_stakes(work, table, round_.id, rules, command.seats)
    if command.deal:
        deal_from_deck(work, round_.id)
    return round_answer(work, round_.id, [seat.seat for seat in command.seats])


def _check_deal(table: Table, seats: object, *, deal: bool) -> None:
    if deal and table.deal_source != "rng":
        raise Rejection("validation_failed", "A physical table's cards come with the deal itself.")
    if deal and not seats:
        raise Rejection("validation_failed", "There is no seat to deal to.")


def _check_stakes(
    work: Work, table: Table, round_: Round | None, rules: Rules, stakes: Sequence[SeatStake]
) -> None:
    seats = {} if round_ is None else round_.seats
    hands = {} if round_ is None else round_.hands
    limits = table.parameters if round_ is None else round_.opened.parameters
    if len(seats) + len(stakes) > rules.seats:
        raise Rejection("table_full", f"The house seats {rules.seats} at most.")
    places = {seat: player for player, seat in table.places.items() if seat is not None}
    taken: set[int] = set()
    more: dict[str, int] = {}
    needed: dict[str, int] = {}
    contributed = 0
    for stake in stakes:
        wallet = work.wallet_of(stake.player_id)
        _check_seat(stake, wallet, rules, places)
        if stake.seat in taken or stake.seat in seats:
            raise Rejection("seat_taken", f"Seat {stake.seat} is taken.", seat=stake.seat)
        _check_player(wallet, table, round_)
        more[wallet.player] = more.get(wallet.player, 0) + 1
        if hands.get(wallet.player, 0) + more[wallet.player] > rules.hands_per_player:
            raise Rejection(
                "seat_taken",
                f"A player plays at most {rules.hands_per_player} hand(s) of a round here.",
                seat=stake.seat,
            )
        taken.add(stake.seat)
        _check_amounts(work, table, limits, rules, stake)
        needed[wallet.player] = needed.get(wallet.player, 0) + stake.ante + sum(stake.side_bets.values())
        contributed += stake.side_bets.get("jackpot", 0)
    _check_funds(work, needed)
    if contributed and table.jackpot_id is not None:
        jackpot = work.jackpot(table.jackpot_id)
        if max(jackpot.meter, jackpot.overflow, jackpot.diverted) + contributed * EXACT > METER_MAX:
            raise Rejection("amount_out_of_range", "The jackpot's meter can grow no further.")


def _check_seat(stake: SeatStake, wallet: Wallet, rules: Rules, places: dict[int, str]) -> None:
    if not 1 <= stake.seat <= rules.seats:
        raise Rejection("validation_failed", f"Seats are numbered 1 to {rules.seats}.", seat=stake.seat)
    if places.get(stake.seat, wallet.player) != wallet.player:
        raise Rejection("seat_taken", f"Seat {stake.seat} is taken.", seat=stake.seat)


def _check_player(wallet: Wallet, table: Table, round_: Round | None) -> None:
    currency = table.currency if round_ is None else round_.opened.currency
    if wallet.currency != currency:
        raise Rejection(
            "currency_mismatch", f"The table plays in {currency}, the wallet holds {wallet.currency}."
        )
    if wallet.account_class != table.account_class:
        raise Rejection("account_class_mismatch", f"The table is for {table.account_class} accounts.")
    unfinished = wallet.unfinished.get(table.table_id)
    if unfinished is not None and (round_ is None or unfinished != round_.id):
        detail = f"The player's round {unfinished} at this table is not finished."
        raise Rejection("round_unfinished", detail, round_id=unfinished)


def _check_amounts(
    work: Work, table: Table, limits: ev.TableParameters, rules: Rules, stake: SeatStake
) -> None:
    if not limits.min_ante <= stake.ante <= limits.max_ante:
        detail = f"The ante is {limits.min_ante} to {limits.max_ante} at this table."
        raise Rejection("ante_out_of_limits", detail, min_ante=limits.min_ante, max_ante=limits.max_ante)
    for kind, amount in stake.side_bets.items():
        bet = rules.side_bets.get(kind)
        if bet is None:
            raise Rejection(
                "unknown_side_bet", f"This table does not offer the side bet {kind}.", side_bet=kind
            )
        if bet.stake is None and not limits.min_side_bet <= amount <= limits.max_side_bet:
            detail = f"The side bet {kind} takes {limits.min_side_bet} to {limits.max_side_bet}."
            raise Rejection("side_bet_stake", detail, side_bet=kind)
        if bet.stake is not None and amount != bet.stake:
            raise Rejection(
                "side_bet_stake",
                f"The side bet {kind} takes exactly {bet.stake}.",
                side_bet=kind,
                stake=bet.stake,
            )
        if kind == "jackpot" and table.jackpot_id is not None and not work.jackpot(table.jackpot_id).enabled:
            raise Rejection("jackpot_disabled", f"Jackpot {table.jackpot_id} is disabled.")


def _check_funds(work: Work, needed: dict[str, int]) -> None:
    for player, amount in needed.items():
        wallet = work.wallets[player]
        if wallet.balance < amount:
            detail = f"The stakes are {amount}, the balance is {wallet.balance}."
            raise Rejection("insufficient_funds", detail, needed=amount, balance=wallet.balance)
        if wallet.balance + wallet.on_game > BALANCE_MAX - HEADROOM:
            raise Rejection("amount_out_of_range", "The wallet could not hold what this round may pay.")


def _emit_opened(work: Work, table: Table, round_id: str) -> None:
    jackpot = None
    if table.jackpot_id is not None:
        held = work.jackpot(table.jackpot_id)
        jackpot = ev.JackpotRef(
            held.jackpot_id,
            held.parameters_version,
            held.sha256,
            held.contribution,
            held.reset,
            held.ceiling,
            held.diversion,
        )
    commitment = None
    if table.deal_source == "rng":
        secret = work.new_secret()
        work.secrets[round_id] = secret
        commitment = secret.commitment(round_id, table.ruleset.sha256)
    parameters = table.parameters
    work.emit_round(
        round_id,
        ev.RoundOpened(
            table_id=table.table_id,
            ruleset=table.ruleset,
            currency=table.currency,
            account_class=table.account_class,
            deal_source=table.deal_source,
            gaming_day=gaming_day(work.next_recorded_at_us(), parameters.zone, parameters.cutoff_hour),
            parameters=parameters,
            build=work.build,
            deck_commitment=commitment,
            jackpot=jackpot,
            **(deck_pins() if commitment is not None else {}),
        ),
    )
    work.deadlines[round_id] = work.now_us + UNSTAKED_ROUND_SECONDS * 1_000_000
    if not table.parallel_rounds:
        table.open_round = round_id
        work.touched_tables.add(table.table_id)


def _emit_stakes(work: Work, table: Table, round_id: str, rules: Rules, stakes: Sequence[SeatStake]) -> None:
    jackpot = work.rounds[round_id].opened.jackpot
    for stake in stakes:
        wallet = work.wallet_of(stake.player_id)
        work.emit_round(
            round_id,
            ev.AntePlaced(
                stake.seat,
                wallet.player,
                stake.ante,
                wallet.balance - stake.ante,
                stake.session_id,
                stake.channel,
                stake.client_seed,
            ),
        )
        for kind in rules.side_bet_order:
            amount = stake.side_bets.get(kind)
            if amount is None:
                continue
            pools: tuple[str | None, ...] = ()
            if kind == "jackpot" and jackpot is not None:
                pools = _put_in(work, jackpot, amount)
            after = wallet.balance - amount
            work.emit_round(
                round_id, ev.SideBetPlaced(stake.seat, wallet.player, kind, amount, after, *pools)
            )
        wallet.unfinished[table.table_id] = round_id
    if stakes:
        if table.parameters.decision_seconds is None:
            work.deadlines.pop(round_id, None)
        else:
            work.deadlines[round_id] = work.now_us + UNSTAKED_ROUND_SECONDS * 1_000_000


def _put_in(work: Work, pinned: ev.JackpotRef, stake: int) -> tuple[str | None, ...]:
    """What a side bet puts into its jackpot, by the parameters that the round pins (G7).

    In the order of the event's fields: the contribution, whose jackpot, of it the overflow, the diversion.
    """
    jackpot = work.jackpots[pinned.id]
    jackpot.unsettled += 1
    contribution = contribution_exact(stake, parse_share(pinned.contribution))
    if pinned.ceiling is None and pinned.diversion is None:
        return exact_text(contribution), pinned.id
    above = contribution - min(contribution, room(jackpot.meter, ceiling_exact(pinned.ceiling)))
    diverted = None
    if pinned.diversion is not None:
        diverted = exact_text(contribution_exact(stake, parse_share(pinned.diversion)))
    return exact_text(contribution), pinned.id, exact_text(above) if above else None, diverted
