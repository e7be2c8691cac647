"""Which function decides which command, and what has to be read before it can."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Final, NamedTuple

from domain import commands as c
from domain import events as ev
from domain.approvals import approve, propose, refuse
from domain.betting import open_round, place_antes
from domain.dealing import deal_cards
from domain.deciding import decide, time_out
from domain.evidence_log import halt_log, start_log
from domain.houses import open_jackpot, publish_ruleset
from domain.jackpot_life import disable_jackpot, enable_jackpot
from domain.people import register_person, revoke_person
from domain.records import finish_audit, record_archive, start_audit
from domain.round import Round
from domain.settling import continue_round, reveal_dealer
from domain.software import verify_software
from domain.tables import (
    activate_ruleset,
    close_table,
    join_table,
    leave_table,
    open_table,
    reopen_table,
)
from domain.voiding import void_round
from domain.wallets import deposit, open_player, withdraw
from domain.work import Work


def start_ledger(command: c.StartLedger, work: Work) -> dict[str, Any]:
    """Write the ledger's first event; a ledger that has begun stays as it is."""
    if work.position == 0:
        work.emit("ledger-0", 1, ev.LedgerStarted(command.demo))
    return {}


HANDLERS: Final[dict[type, Callable[[Any, Work], dict[str, Any]]]] = {
    c.StartLedger: start_ledger,
    c.PublishRuleset: publish_ruleset,
    c.OpenPlayer: open_player,
    c.Deposit: deposit,
    c.Withdraw: withdraw,
    c.OpenJackpot: open_jackpot,
    c.DisableJackpot: disable_jackpot,
    c.EnableJackpot: enable_jackpot,
    c.OpenTable: open_table,
    c.CloseTable: close_table,
    c.ReopenTable: reopen_table,
    c.ActivateRuleset: activate_ruleset,
    c.JoinTable: join_table,
    c.LeaveTable: leave_table,
    c.OpenRound: open_round,
    c.PlaceAntes: place_antes,
    c.DealCards: deal_cards,
    c.Decide: decide,
    c.RevealDealer: reveal_dealer,
    c.VoidRound: void_round,
    c.TimeOutRound: time_out,
    c.ContinueRound: continue_round,
    c.Propose: propose,
    c.Approve: approve,
    c.Refuse: refuse,
    c.RegisterPerson: register_person,
    c.RevokePerson: revoke_person,
    c.VerifySoftware: verify_software,
    c.StartLog: start_log,
    c.HaltLog: halt_log,
    c.StartAudit: start_audit,
    c.FinishAudit: finish_audit,
    c.RecordArchive: record_archive,
}


class Reads(NamedTuple):
    """What a command reads beside tables, jackpots and rule sets, which the writer always has."""

    player_ids: tuple[str, ...] = ()
    round_id: str | None = None
    transfer: tuple[str, str, str] | None = None
    approval: str | None = None
    audit: str | None = None


def reads(command: c.Command) -> Reads:
    """What must be in the books before the command can be decided.

    `transfer` is (player id, direction, reference).
    """
    what = _READS.get(type(command))
    return NOTHING if what is None else what(command)


def _of_player(command: c.OpenPlayer | c.JoinTable | c.LeaveTable) -> Reads:
    return Reads((command.player_id,))


def _of_transfer(command: c.Deposit | c.Withdraw) -> Reads:
    direction = "in" if isinstance(command, c.Deposit) else "out"
    return Reads((command.player_id,), None, (command.player_id, direction, command.reference))


def _of_stakes(command: c.OpenRound) -> Reads:
    return Reads(tuple(seat.player_id for seat in command.seats))


def _of_more_stakes(command: c.PlaceAntes) -> Reads:
    return Reads(tuple(seat.player_id for seat in command.seats), command.round_id)


def _of_round(
    command: c.DealCards | c.Decide | c.RevealDealer | c.VoidRound | c.TimeOutRound | c.ContinueRound,
) -> Reads:
    return Reads((), command.round_id)


def _of_approval(command: c.Approve | c.Refuse) -> Reads:
    return Reads(approval=command.approval_id)


def _of_audit(command: c.StartAudit | c.FinishAudit) -> Reads:
    return Reads(audit=command.run_id)


NOTHING: Final = Reads()
_READS: Final[dict[type, Callable[[Any], Reads]]] = {
    c.OpenPlayer: _of_player,
    c.JoinTable: _of_player,
    c.LeaveTable: _of_player,
    c.Deposit: _of_transfer,
    c.Withdraw: _of_transfer,
    c.OpenRound: _of_stakes,
    c.PlaceAntes: _of_more_stakes,
    c.DealCards: _of_round,
    c.Decide: _of_round,
    c.RevealDealer: _of_round,
    c.VoidRound: _of_round,
    c.TimeOutRound: _of_round,
    c.ContinueRound: _of_round,
    c.Approve: _of_approval,
    c.Refuse: _of_approval,
    c.StartAudit: _of_audit,
    c.FinishAudit: _of_audit,
}


def players_touched(round_: Round, commands: Iterable[c.Command], settle_seats_max: int) -> set[str]:
    """The pseudonyms whose wallets a batch's commands on one round may touch or show.

    A round of the usual size needs all of them. A big shared one needs the seats that decide and, where
    the batch may end its decisions or goes on settling or refunding, the seats that come next.
    """
    if len(round_.seats) <= settle_seats_max:
        return {seat.player for seat in round_.seats.values()}
    own: set[int] = set()
    ending = 0
    decisions = 0
    for command in commands:
        if isinstance(command, c.Decide):
            own.add(command.seat)
            decisions += 1
        else:
            ending += 1
    if decisions and decisions >= round_.undecided:
        ending += 1
    order = round_.order or sorted(round_.seats)
    done = round_.refunded if round_.phase == "voided" else round_.settled
    own.update(order[done : done + ending * settle_seats_max])
    if ending:
        # Hands that win a jackpot's meter are paid together, at the first of them, wherever that comes.
        unpaid = (round_.seats[number] for number in order[done:])
        own.update(seat.seat for seat in unpaid if "jackpot" in seat.side_bets and seat.hit is None)
    return {round_.seats[number].player for number in own if number in round_.seats}
