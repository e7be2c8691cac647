"""What every store must do: the same suite runs over memory and over PostgreSQL."""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from infrastructure.bootstrap import prepare
from infrastructure.ledger.memory import MemoryLedger, MemoryStore
from infrastructure.ledger.postgres import PostgresStore
from infrastructure.ledger.store import (
    Changes,
    CommandRecord,
    FirstReading,
    JackpotRow,
    OpenRoundRow,
    RegisterRow,
    RulesetRow,
    Store,
    StoredEventRow,
    StoreLost,
    StoreRefused,
    TableRow,
    TransferRow,
    WalletRow,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

NewStore = Callable[[], Store]
PASSWORDS = {"app": "app-password-of-a-test", "auditor": "auditor-password-of-a-test"}
NOW = 1_796_000_000_000_000

_schemas = itertools.count(1)


@pytest.fixture(params=["memory", "postgres"])
def new_store(request: pytest.FixtureRequest) -> Iterator[NewStore]:
    """Yield a function that makes one more store over the same, at first empty, ledger."""
    make: NewStore
    if request.param == "memory":
        ledger = MemoryLedger()
        make = lambda: MemoryStore(ledger, lock_seconds_max=1)  # noqa: E731
    else:
        schema = f"contract_{next(_schemas)}"
        dsn = prepare(request.getfixturevalue("database"), schema, passwords=PASSWORDS).app
        make = lambda: PostgresStore(dsn, schema, lock_seconds_max=1)  # noqa: E731
    stores = []

    def made() -> Store:
        stores.append(make())
        return stores[-1]

    yield made
    for store in stores:
        store.close()


@pytest.fixture
def store(new_store: NewStore) -> Store:
    """Return a store over an empty ledger."""
    return new_store()


# ── What batches are made of ───────────────────────────────────────────────────────────────────────────
def event(position: int, stream: str = "round-R1", version: int = 1) -> StoredEventRow:
    """Return an event."""
    return StoredEventRow(position, stream, version, b'{"position":%d}' % position)


def command(
    number: int, body: bytes = b'{"balance":1}', outcome: int = 0, position: int = 0
) -> CommandRecord:
    """Return a command's record; its id is made of a number."""
    return CommandRecord(number.to_bytes(16, "big"), b"f" * 16, outcome, body, position)


def wallet(player: str = "p1", balance: int = 100, version: int = 1, on_game: int = 0) -> WalletRow:
    """Return a wallet of player id ``id-<player>``."""
    return WalletRow(player, f"id-{player}", "USD", "real", version, balance, on_game, "{}")


def open_round(round_id: str = "R1", sealed: bytes | None = b"sealed") -> OpenRoundRow:
    """Return an open round."""
    return OpenRoundRow(round_id, "T1", sealed, "a" * 64, NOW, unsettled=False)


def changes(position: int, **lists: object) -> Changes:
    """Return a batch that ends at a position."""
    return Changes(position, NOW + position, **lists)  # type: ignore[arg-type]


def write(store: Store, batch: Changes) -> None:
    """Write a batch."""
    store.begin(FirstReading(0))
    store.commit(batch)


# ── Reading and writing ────────────────────────────────────────────────────────────────────────────────
def test_an_empty_ledger_is_at_position_zero(store: Store) -> None:
    """A ledger nobody has written to has position 0, time 0 and nothing in it."""
    answer = store.begin(FirstReading(0, [b"c" * 16], {"R1": 1}, ["R2"], ["id-p1"], [("id-p1", "in", "ref")]))
    assert (answer.position, answer.recorded_at_us) == (0, 0)
    found = (answer.commands, answer.tables, answer.jackpots, answer.rulesets, answer.wallets, answer.events)
    assert not any(found)
    assert not answer.open_rounds
    assert not answer.transfers
    assert not answer.registers


def test_what_is_committed_is_read_back_by_every_store(new_store: NewStore) -> None:
    """Each kind of row that one store commits, another one reads exactly as it was written."""
    batch = changes(
        2,
        events=[event(1), event(2, version=2)],
        commands=[command(1, position=2), command(2, outcome=1, body=b"no " * 400, position=2)],
        wallets=[
            wallet(),
            replace(wallet("p2"), player_id=None, account_class="test", unfinished='{"T1":"R1"}'),
        ],
        accounts={("house:real", "USD"): -70_0000},
        jackpots=[JackpotRow("J1", 2, 90_000_000_000_000_000_000, enabled=True, state=b'{"a":1}')],
        tables=[TableRow("T1", 1, b'{"b":2}')],
        rulesets=[RulesetRow("us-casino", 1, 1, "c" * 64, '{"title":"Řím"}'.encode())],
        open_rounds=[
            open_round(),
            replace(open_round("R2", sealed=None), answer_sha256=None, deadline_us=None),
        ],
        transfers=[TransferRow("p1", "in", "ref-1", 100, b'{"transaction_id":"t1"}')],
        registers=[RegisterRow("person-anna", 2, active=True, state='{"c":"Řím"}'.encode())],
    )
    write(new_store(), batch)
    answer = new_store().begin(
        FirstReading(
            0,
            command_ids=[row.id for row in batch.commands],
            new_rounds=["R1", "R2"],
            player_ids=["id-p1", "nobody"],
            transfers=[("id-p1", "in", "ref-1"), ("id-p1", "out", "ref-1")],
        )
    )
    assert (answer.position, answer.recorded_at_us) == (2, NOW + 2)
    assert answer.commands == {row.id: row for row in batch.commands}
    assert answer.wallets == [batch.wallets[0]]
    assert answer.jackpots == batch.jackpots
    assert answer.tables == batch.tables
    assert answer.rulesets == batch.rulesets
    assert answer.open_rounds == {row.round_id: row for row in batch.open_rounds}
    assert answer.transfers == batch.transfers
    assert answer.registers == batch.registers
    assert answer.events == {"R1": [b'{"position":1}', b'{"position":2}']}


def test_wallets_are_read_inside_the_transaction(store: Store) -> None:
    """Wallets are found by pseudonym or player id, each once; unknown ones are absent."""
    write(store, changes(0, wallets=[wallet("p1"), wallet("p2"), wallet("p3"), wallet("p4")]))
    store.begin(FirstReading(0))
    found = store.read_wallets(["p3", "p1", "p1", "nobody"], ["id-p1", "id-p2"])
    assert sorted(row.player for row in found) == ["p1", "p2", "p3"]


def test_rows_are_replaced_and_accounts_add_up(new_store: NewStore) -> None:
    """A later batch's row takes the place of the earlier one; an account takes the sum of its deltas."""
    store = new_store()
    write(
        store,
        changes(
            1,
            events=[event(1)],
            wallets=[wallet(balance=100)],
            jackpots=[JackpotRow("J1", 1, 5, enabled=True, state=b"1")],
            tables=[TableRow("T1", 1, b"1")],
            open_rounds=[open_round()],
            accounts={("house:real", "USD"): 5},
        ),
    )
    later = changes(
        2,
        events=[event(2, version=2)],
        wallets=[wallet(balance=40, version=2, on_game=60)],
        jackpots=[JackpotRow("J1", 2, 7, enabled=False, state=b"2")],
        tables=[TableRow("T1", 2, b"2")],
        open_rounds=[replace(open_round(), answer_sha256="b" * 64, deadline_us=None, unsettled=True)],
        accounts={("house:real", "USD"): -7, ("house:real", "EUR"): 1},
    )
    write(store, later)
    answer = new_store().begin(FirstReading(0, player_ids=["id-p1"], new_rounds=["R1"]))
    assert answer.wallets == later.wallets
    assert answer.jackpots == later.jackpots
    assert answer.tables == later.tables
    assert answer.open_rounds == {"R1": later.open_rounds[0]}


def test_only_what_changed_since_the_known_position_is_read(new_store: NewStore) -> None:
    """Tables, jackpots and rule sets that changed after the known position are returned, no others."""
    store = new_store()
    rows = [TableRow(f"T{n}", n, b"{}") for n in (1, 2, 3)]
    write(store, changes(3, events=[event(1), event(2, version=2), event(3, version=3)], tables=rows))
    reader = new_store()
    for known, expected in ((0, ["T1", "T2", "T3"]), (2, ["T3"]), (3, [])):
        answer = reader.begin(FirstReading(known))
        reader.rollback()
        assert sorted(row.table_id for row in answer.tables) == expected


def registers(reader: Store, known_position: int, *names: str) -> list[tuple[str, bool]]:
    """Return the registers that a reading finds, by name, each with whether it is active."""
    found = reader.begin(FirstReading(known_position, registers=names)).registers
    reader.rollback()
    return sorted((row.name, row.active) for row in found)


def test_a_writer_that_knows_nothing_is_given_the_active_registers(new_store: NewStore) -> None:
    """Those that are no longer active are returned where they are named, each register once."""
    rows = [RegisterRow(f"approval-{n}", n, active=n > 1, state=b"{}") for n in (1, 2, 3)]
    write(
        new_store(),
        changes(3, events=[event(n, version=n) for n in (1, 2, 3)], registers=rows),
    )
    reader = new_store()
    active = [("approval-2", True), ("approval-3", True)]
    assert registers(reader, 0) == active
    assert registers(reader, 0, "approval-1", "approval-2", "approval-9") == [("approval-1", False), *active]


def test_a_writer_is_told_which_registers_changed_active_or_not(new_store: NewStore) -> None:
    """A decision elsewhere reaches whoever knows the proposal; where nothing moved nothing is read."""
    store, reader = new_store(), new_store()
    row = RegisterRow("approval-1", 1, active=True, state=b"1")
    write(store, changes(1, events=[event(1)], registers=[row, replace(row, name="approval-2")]))
    assert registers(reader, 1) == []
    decided = replace(row, position=2, active=False, state=b"2")
    write(store, changes(2, events=[event(2, version=2)], registers=[decided]))
    assert registers(reader, 1) == [("approval-1", False)]
    assert registers(reader, 2) == []
    assert registers(reader, 2, "approval-1") == [("approval-1", False)]
    assert registers(reader, 0) == [("approval-2", True)]
    assert new_store().begin(FirstReading(1)).registers == [decided]


def test_a_cached_round_gets_only_its_later_events(new_store: NewStore) -> None:
    """Of a round in memory only later events are returned, and its open-round row."""
    store = new_store()
    write(store, changes(3, events=[event(n, version=n) for n in (1, 2, 3)], open_rounds=[open_round()]))
    reader = new_store()
    answer = reader.begin(FirstReading(1, cached_rounds={"R1": 1, "R9": 4}))
    reader.rollback()
    assert answer.events == {"R1": [b'{"position":2}', b'{"position":3}']}
    assert list(answer.open_rounds) == ["R1"]
    assert reader.begin(FirstReading(1, cached_rounds={"R1": 3})).events == {}


def test_events_of_cached_rounds_are_not_looked_for_where_the_head_stands_still(store: Store) -> None:
    """A writer that knows the head is not sent again what it wrote itself."""
    write(store, changes(2, events=[event(1), event(2, version=2)], open_rounds=[open_round()]))
    answer = store.begin(FirstReading(2, cached_rounds={"R1": 1}))
    assert answer.events == {}
    assert answer.open_rounds == {}


def test_a_closed_round_is_no_longer_open(store: Store) -> None:
    """A round that closes is gone with its sealed seed, one opened and closed in a batch too."""
    write(store, changes(1, events=[event(1)], open_rounds=[open_round("R1"), open_round("R2")]))
    write(store, changes(1, open_rounds=[open_round("R3")], closed_rounds=["R1", "R3"]))
    assert list(store.begin(FirstReading(0, new_rounds=["R1", "R2", "R3"])).open_rounds) == ["R2"]


def test_a_batch_without_events_keeps_the_position(store: Store) -> None:
    """Rejections are remembered by a batch that moves nothing."""
    write(store, changes(0, commands=[command(1, outcome=1)]))
    answer = store.begin(FirstReading(0, command_ids=[command(1).id]))
    assert answer.position == 0
    assert answer.commands[command(1).id].outcome == 1


# ── Refusals: nothing of the batch happens ─────────────────────────────────────────────────────────────
REFUSED = {
    "an overdraft": changes(2, events=[event(2, version=2)], wallets=[wallet(balance=-1, version=2)]),
    "a balance out of range": changes(1, wallets=[wallet(balance=9 * 10**15 + 1, version=2)]),
    "a balance beyond 64 bits": changes(1, wallets=[wallet(balance=2**70, version=2)]),
    "a negative stake on the game": changes(1, wallets=[wallet(on_game=-1, version=2)]),
    "a command that is there": changes(1, commands=[command(1)]),
    "a command twice": changes(1, commands=[command(7), command(7)]),
    "a place in a stream that is taken": changes(2, events=[event(2, version=1)]),
    "a place in a stream twice": changes(3, events=[event(2, "round-R2"), event(3, "round-R2")]),
    "a transfer that is there": changes(1, transfers=[TransferRow("p1", "in", "ref", 1, b"{}")]),
    "a rule set version that is there": changes(1, rulesets=[RulesetRow("r", 1, 1, "d" * 64, b"{}")]),
    "a second wallet of a player id": changes(1, wallets=[replace(wallet("p9"), player_id="id-p1")]),
    "a negative meter": changes(1, jackpots=[JackpotRow("J1", 1, -1, enabled=True, state=b"{}")]),
    "a meter out of range": changes(1, jackpots=[JackpotRow("J1", 1, 10**20, enabled=True, state=b"{}")]),
    "a gap before the events": changes(3, events=[event(3, version=2)]),
    "a gap after the events": changes(3, events=[event(2, version=2)]),
    "a position without an event": changes(2),
    "a position that goes back": changes(0),
    "a time that goes back": Changes(1, NOW),
    "an event beyond the limit": changes(2, events=[StoredEventRow(2, "round-R1", 2, b"x" * 65_535)]),
}


@pytest.mark.parametrize("batch", REFUSED.values(), ids=REFUSED.keys())
def test_a_refused_batch_changes_nothing(new_store: NewStore, batch: Changes) -> None:
    """A refused batch did not happen, nor did anything that came with it, and the store goes on."""
    store = new_store()
    first = changes(
        1,
        events=[event(1)],
        commands=[command(1)],
        wallets=[wallet()],
        rulesets=[RulesetRow("r", 1, 1, "c" * 64, b"{}")],
        transfers=[TransferRow("p1", "in", "ref", 5, b"{}")],
        jackpots=[JackpotRow("J1", 1, 5, enabled=True, state=b"{}")],
    )
    write(store, first)
    companions = replace(batch, commands=[*batch.commands, command(99)], tables=[TableRow("T1", 1, b"{}")])
    store.begin(FirstReading(1))
    with pytest.raises(StoreRefused):
        store.commit(companions)
    answer = store.begin(
        FirstReading(0, [command(99).id, command(1).id], new_rounds=["R1", "R2"], player_ids=["id-p1"])
    )
    assert answer.position == 1
    assert answer.recorded_at_us == NOW + 1
    assert list(answer.commands) == [command(1).id]
    assert answer.events == {"R1": [b'{"position":1}']}
    assert answer.wallets == first.wallets
    assert answer.jackpots == first.jackpots
    assert answer.rulesets == first.rulesets
    assert answer.tables == []
    store.commit(changes(2, events=[event(2, version=2)], commands=[command(99)]))
    assert command(99).id in store.find_commands([command(99).id])


def test_a_rolled_back_batch_leaves_no_trace(store: Store) -> None:
    """After a rollback the head is free and nothing has changed; another rollback is harmless."""
    store.begin(FirstReading(0))
    store.rollback()
    store.rollback()
    assert store.begin(FirstReading(0)).position == 0


def test_transactions_do_not_nest(store: Store) -> None:
    """Beginning twice, and committing or looking up at the wrong time, is a caller's defect."""
    with pytest.raises(RuntimeError):
        store.commit(changes(0))
    with pytest.raises(RuntimeError):
        store.read_wallets(["p1"], [])
    store.begin(FirstReading(0))
    with pytest.raises(RuntimeError):
        store.begin(FirstReading(0))
    with pytest.raises(RuntimeError):
        store.find_commands([])


# ── One order ──────────────────────────────────────────────────────────────────────────────────────────
def test_the_second_store_waits_for_the_head(new_store: NewStore) -> None:
    """A store that begins while another has the head reads what that one committed."""
    first, second = new_store(), new_store()
    first.begin(FirstReading(0))
    seen: list[int] = []
    began = threading.Event()

    def run() -> None:
        began.set()
        seen.append(second.begin(FirstReading(0)).position)
        second.rollback()

    thread = threading.Thread(target=run)
    thread.start()
    began.wait()
    assert not seen
    first.commit(changes(1, events=[event(1)]))
    thread.join()
    assert seen == [1]


def test_a_head_that_does_not_come_free_is_a_lost_store(new_store: NewStore) -> None:
    """Waiting for the head is bounded; giving up leaves the store usable."""
    first, second = new_store(), new_store()
    first.begin(FirstReading(0))
    with pytest.raises(StoreLost):
        second.begin(FirstReading(0))
    with pytest.raises(StoreLost):
        second.find_commands([b"c" * 16])
    first.rollback()
    assert second.begin(FirstReading(0)).position == 0


def test_several_stores_number_the_events_without_a_gap(new_store: NewStore) -> None:
    """Four writers at once, each going on from the head it was given, make one sequence."""
    errors: list[BaseException] = []

    def run(store: Store, name: str) -> None:
        try:
            for version in range(1, 26):
                position = store.begin(FirstReading(0)).position + 1
                store.commit(changes(position, events=[event(position, f"round-{name}", version)]))
        except BaseException as error:  # noqa: BLE001  # reported by the test's thread
            errors.append(error)

    threads = [threading.Thread(target=run, args=(new_store(), f"R{n}")) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    answer = new_store().begin(FirstReading(0, new_rounds=[f"R{n}" for n in range(4)]))
    assert answer.position == 100
    assert [len(events) for events in answer.events.values()] == [25, 25, 25, 25]


def test_commands_that_happened_are_found(new_store: NewStore) -> None:
    """Looking commands up after the fact finds those that were committed and no others."""
    write(new_store(), changes(0, commands=[command(1), command(2)]))
    found = new_store().find_commands([command(2).id, command(3).id])
    assert found == {command(2).id: command(2)}


@pytest.mark.parametrize("rows", [1, 3, 200])
def test_the_number_of_statements_does_not_depend_on_the_size(store: Store, rows: int) -> None:
    """A batch of one and a batch of two hundred take the same statements."""

    def batch(first: int, position: int) -> None:
        store.begin(FirstReading(position, [command(n).id for n in range(first, first + rows)]))
        store.read_wallets([f"p{n}" for n in range(rows)], [])
        store.commit(
            changes(
                position + rows,
                events=[event(position + n + 1, f"round-{first}", n + 1) for n in range(rows)],
                commands=[command(n) for n in range(first, first + rows)],
                wallets=[wallet(f"p{n}") for n in range(rows)],
            )
        )

    batch(1000, 0)
    before = store.statements()
    batch(5000, rows)
    postgres = isinstance(store, PostgresStore)
    # begin, head, tables, jackpots, rule sets, registers, commands; wallets; events, commands, wallets, head,
    # commit
    assert store.statements() - before == (13 if postgres else 3)
