"""Between the store's rows and what travels: parameters out, results back."""

from __future__ import annotations

from itertools import compress, groupby
from typing import TYPE_CHECKING, Final

from infrastructure.ledger.answers import pack, unpack
from infrastructure.ledger.arrays import (
    byteas,
    int4s,
    int8,
    int8s,
    texts,
    to_bytes,
    to_int,
    to_optional_text,
    to_text,
)
from infrastructure.ledger.store import (
    CommandRecord,
    FirstAnswer,
    JackpotRow,
    OpenRoundRow,
    RegisterRow,
    RulesetRow,
    TableRow,
    TransferRow,
    WalletRow,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from psycopg.pq.abc import PGresult

    from infrastructure.ledger.line import Call
    from infrastructure.ledger.store import Changes, FirstReading, StoredEventRow

Row = list[bytes | None]

STREAM_OF_ROUND: Final = "round-"
"""The prefix that makes a round's stream of its id."""

_TRUE: Final = b"\x01"


# ── Reading ─────────────────────────────────────────────────────────────────────────────────────────────────
def calls_to_begin(reading: FirstReading) -> list[Call]:
    """Return what opens a batch's transaction and reads what `reading` asks for."""
    known = [int8(reading.known_position)]
    calls: list[Call] = [
        ("begin", ()),
        ("head", ()),
        ("tables", known),
        ("jackpots", known),
        ("rulesets", known),
        ("registers", known),
    ]
    if reading.command_ids:
        calls.append(("commands", [byteas(reading.command_ids)]))
    if reading.player_ids:
        calls.append(("wallets_by_player_id", [texts(reading.player_ids)]))
    if reading.cached_rounds:
        streams = texts([STREAM_OF_ROUND + round_id for round_id in reading.cached_rounds])
        calls.append(("later_events", [streams, int4s(list(reading.cached_rounds.values())), *known]))
        calls.append(("later_open_rounds", [texts(list(reading.cached_rounds)), *known]))
    if reading.new_rounds:
        calls.append(("new_events", [texts([STREAM_OF_ROUND + round_id for round_id in reading.new_rounds])]))
        calls.append(("open_rounds", [texts(reading.new_rounds)]))
    if reading.transfers:
        player_ids, directions, references = zip(*reading.transfers, strict=True)
        calls.append(("transfers", [texts(player_ids), texts(directions), texts(references)]))
    if reading.registers:
        calls.append(("registers_by_name", [texts(reading.registers)]))
    return calls


def answer(results: Mapping[str, PGresult]) -> FirstAnswer:
    """Return what the statements of `calls_to_begin` found, by their names."""
    found = {name: rows_of(result) for name, result in results.items()}
    ((position, recorded_at_us),) = found["head"]
    return FirstAnswer(
        position=to_int(position),
        recorded_at_us=to_int(recorded_at_us),
        commands={record.id: record for record in map(command, found.get("commands", ()))},
        tables=[_table(row) for row in found["tables"]],
        jackpots=[_jackpot(row) for row in found["jackpots"]],
        rulesets=[_ruleset(row) for row in found["rulesets"]],
        wallets=[wallet(row) for row in found.get("wallets_by_player_id", ())],
        events=_events(found.get("later_events", ())) | _events(found.get("new_events", ())),
        open_rounds={
            row.round_id: row
            for name in ("open_rounds", "later_open_rounds")
            for row in map(_open_round, found.get(name, ()))
        },
        transfers=[_transfer(row) for row in found.get("transfers", ())],
        registers=_registers(*found["registers"], *found.get("registers_by_name", ())),
    )


def rows_of(result: PGresult) -> list[Row]:
    """Return a result's rows, each value in the binary format."""
    columns = range(result.nfields)
    return [[result.get_value(row, column) for column in columns] for row in range(result.ntuples)]


def command(row: Row) -> CommandRecord:
    """Return a command's record."""
    id_, fingerprint, outcome, body, position, salt = row
    return CommandRecord(
        id=to_bytes(id_),
        fingerprint=to_bytes(fingerprint),
        outcome=to_int(outcome),
        body=unpack(to_bytes(body)),
        position=to_int(position),
        salt=salt,
    )


def wallet(row: Row) -> WalletRow:
    """Return a wallet."""
    player, player_id, currency, account_class, version, balance, on_game, unfinished = row
    return WalletRow(
        player=to_text(player),
        player_id=to_optional_text(player_id),
        currency=to_text(currency),
        account_class=to_text(account_class),
        version=to_int(version),
        balance=to_int(balance),
        on_game=to_int(on_game),
        unfinished=to_text(unfinished),
    )


def _table(row: Row) -> TableRow:
    table_id, position, state = row
    return TableRow(to_text(table_id), to_int(position), to_bytes(state))


def _jackpot(row: Row) -> JackpotRow:
    jackpot_id, position, meter, enabled, state = row
    return JackpotRow(
        to_text(jackpot_id), to_int(position), int(to_text(meter)), enabled == _TRUE, to_bytes(state)
    )


def _ruleset(row: Row) -> RulesetRow:
    ruleset_id, version, position, sha256, content = row
    return RulesetRow(
        to_text(ruleset_id), to_int(version), to_int(position), to_text(sha256), to_bytes(content)
    )


def _open_round(row: Row) -> OpenRoundRow:
    round_id, table_id, sealed, answer_sha256, deadline_us, unsettled = row
    return OpenRoundRow(
        round_id=to_text(round_id),
        table_id=to_text(table_id),
        sealed=sealed,
        answer_sha256=to_optional_text(answer_sha256),
        deadline_us=None if deadline_us is None else to_int(deadline_us),
        unsettled=unsettled == _TRUE,
    )


def _transfer(row: Row) -> TransferRow:
    player, direction, reference, amount, answer_ = row
    return TransferRow(
        to_text(player), to_text(direction), to_text(reference), to_int(amount), to_bytes(answer_)
    )


def _registers(*rows: Row) -> list[RegisterRow]:
    """Return registers, each once: one that was asked for may have changed as well."""
    found = (
        RegisterRow(to_text(name), to_int(position), active == _TRUE, to_bytes(state))
        for name, position, active, state in rows
    )
    return list({row.name: row for row in found}.values())


def _events(rows: list[Row] | tuple[()]) -> dict[str, list[bytes]]:
    """Return events by round id; they come ordered by stream and version."""
    return {
        to_text(stream).removeprefix(STREAM_OF_ROUND): [to_bytes(data) for _, data in events]
        for stream, events in groupby(rows, key=lambda row: row[0])
    }


# ── Writing ─────────────────────────────────────────────────────────────────────────────────────────────────
def calls_to_write(position_before: int, changes: Changes) -> list[Call]:
    """Return what writes a batch, but for its commit: one statement for each list that is not empty.

    Raises OverflowError or UnicodeEncodeError for a value that has no binary form.
    """
    calls = [
        _write_events(position_before, changes.events),
        _write_commands(changes.commands),
        _write_wallets(changes.wallets),
        _write_accounts(changes.accounts),
        _write_jackpots(changes.jackpots),
        _write_tables(changes.tables),
        _write_rulesets(changes.rulesets),
        _write_open_rounds(changes.open_rounds),
        ("close_rounds", [texts(changes.closed_rounds)]),
        _write_transfers(changes.transfers),
        _write_registers(changes.registers),
    ]
    wanted = [
        changes.events,
        changes.commands,
        changes.wallets,
        changes.accounts,
        changes.jackpots,
        changes.tables,
        changes.rulesets,
        changes.open_rounds,
        changes.closed_rounds,
        changes.transfers,
        changes.registers,
    ]
    head: Call = ("write_head", [int8(changes.position), int8(changes.recorded_at_us)])
    return [*compress(calls, wanted), head]


def _write_events(position_before: int, events: list[StoredEventRow]) -> Call:
    return "write_events", [
        int8(position_before),
        int4s([row.version for row in events]),
        texts([row.stream for row in events]),
        byteas([row.data for row in events]),
    ]


def _write_accounts(accounts: dict[tuple[str, str], int]) -> Call:
    return "write_accounts", [
        texts([account for account, _ in accounts]),
        texts([currency for _, currency in accounts]),
        texts([str(delta) for delta in accounts.values()]),
    ]


def _write_tables(tables: list[TableRow]) -> Call:
    return "write_tables", [
        texts([row.table_id for row in tables]),
        int8s([row.position for row in tables]),
        byteas([row.state for row in tables]),
    ]


def _write_commands(commands: list[CommandRecord]) -> Call:
    return "write_commands", [
        byteas([row.id for row in commands]),
        byteas([row.fingerprint for row in commands]),
        int4s([row.outcome for row in commands]),
        byteas([pack(row.body) for row in commands]),
        int8s([row.position for row in commands]),
        byteas([row.salt for row in commands]),
    ]


def _write_wallets(wallets: list[WalletRow]) -> Call:
    return "write_wallets", [
        texts([row.player for row in wallets]),
        texts([row.player_id for row in wallets]),
        texts([row.currency for row in wallets]),
        texts([row.account_class for row in wallets]),
        int4s([row.version for row in wallets]),
        int8s([row.balance for row in wallets]),
        int8s([row.on_game for row in wallets]),
        texts([row.unfinished for row in wallets]),
    ]


def _write_jackpots(jackpots: list[JackpotRow]) -> Call:
    return "write_jackpots", [
        texts([row.jackpot_id for row in jackpots]),
        int8s([row.position for row in jackpots]),
        texts([str(row.meter) for row in jackpots]),
        int4s([row.enabled for row in jackpots]),
        byteas([row.state for row in jackpots]),
    ]


def _write_rulesets(rulesets: list[RulesetRow]) -> Call:
    return "write_rulesets", [
        texts([row.ruleset_id for row in rulesets]),
        int4s([row.version for row in rulesets]),
        int8s([row.position for row in rulesets]),
        texts([row.sha256 for row in rulesets]),
        byteas([row.content for row in rulesets]),
    ]


def _write_open_rounds(open_rounds: list[OpenRoundRow]) -> Call:
    return "write_open_rounds", [
        texts([row.round_id for row in open_rounds]),
        texts([row.table_id for row in open_rounds]),
        byteas([row.sealed for row in open_rounds]),
        texts([row.answer_sha256 for row in open_rounds]),
        int8s([row.deadline_us for row in open_rounds]),
        int4s([row.unsettled for row in open_rounds]),
    ]


def _write_transfers(transfers: list[TransferRow]) -> Call:
    return "write_transfers", [
        texts([row.player for row in transfers]),
        texts([row.direction for row in transfers]),
        texts([row.reference for row in transfers]),
        int8s([row.amount for row in transfers]),
        byteas([row.answer for row in transfers]),
    ]


def _write_registers(registers: list[RegisterRow]) -> Call:
    return "write_registers", [
        texts([row.name for row in registers]),
        int8s([row.position for row in registers]),
        int4s([row.active for row in registers]),
        byteas([row.state for row in registers]),
    ]
