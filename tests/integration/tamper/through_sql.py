"""What a superuser of the database can do past the ledger, its guards switched off; no file is touched."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import psycopg

from tests.integration import tampering
from tests.integration.checked_ledger import event, first, head, last_of, rewrite
from tests.integration.tamper.insider import Change, Copy, in_its_round, position_of
from tests.integration.tamper.story import go_on

CUT_OFF = 25


# ── Events ──────────────────────────────────────────────────────────────────────────────────────────────────
def edit_a_payout(copy: Copy) -> Change:
    """Let a bet win more than its cards are worth."""
    with copy.sql() as connection:
        return in_its_round(connection, tampering.a_bets_winnings(connection))


def edit_a_name(copy: Copy) -> Change:
    """Let somebody else have sent a decision: nothing else follows from that."""
    with copy.sql() as connection:
        position = first(connection, "Folded")
        found = event(connection, position)
        rewrite(connection, position, {**found, "meta": {**found["meta"], "actor": "nobody"}})
        return in_its_round(connection, position)


def delete_an_event(copy: Copy) -> Change:
    """Delete one that moved no money."""
    with copy.sql() as connection:
        change = in_its_round(connection, first(connection, "BettingClosed"))
        tampering.an_event_that_is_gone(connection)
        return change


def insert_an_event(copy: Copy) -> Change:
    """Insert a deposit between two events; those behind it count on, in their bytes too."""
    with copy.sql() as connection:
        at = first(connection, "Folded")
        forged = event(connection, last_of(connection, "wallet-pANNA") - 1)
        behind = connection.execute(
            "SELECT position, data FROM ledger.events WHERE position >= %s ORDER BY position DESC", [at]
        ).fetchall()
        connection.cursor().executemany(
            "UPDATE ledger.events SET position = %s, data = %s WHERE position = %s",
            [
                (position + 1, _bytes({**orjson.loads(data), "position": position + 1}), position)
                for position, data in behind
            ],
        )
        connection.execute(
            "INSERT INTO ledger.events VALUES (%s, 99, %s, %s)",
            [at, _bytes(forged | {"position": at, "version": 99}), forged["stream"]],
        )
        connection.execute("UPDATE ledger.head SET position = position + 1")
        return Change(at)


def append_an_event(copy: Copy) -> Change:
    """Insert a deposit as it would be behind the last event, and move the head; the wallet stays."""
    with copy.sql() as connection:
        return Change(tampering.a_forged_deposit(connection))


def reorder_events(copy: Copy) -> Change:
    """Put two events in each other's place, their positions in the bytes included."""
    with copy.sql() as connection:
        change = in_its_round(connection, first(connection, "BettingClosed"))
        tampering.two_events_in_each_others_place(connection)
        return change


def cut_off_the_tail(copy: Copy) -> Change:
    """Delete the last events, and let the head say so."""
    with copy.sql() as connection:
        last = head(connection) - CUT_OFF
        connection.execute("DELETE FROM ledger.events WHERE position > %s", [last])
        connection.execute("UPDATE ledger.head SET position = %s", [last])
        return Change(last + 1)


def swap_cards(copy: Copy) -> Change:
    """Swap the cards of two rounds."""
    with copy.sql() as connection:
        one, two = ([*_dealt(connection, round_id)] for round_id in copy.story.rounds)
        for mine, theirs in zip(one + two, two + one, strict=True):
            data = {**mine["data"], "cards": theirs["data"]["cards"]}
            rewrite(connection, mine["position"], {**mine, "data": data})
        return in_its_round(connection, one[0]["position"])


def roll_back_the_database(copy: Copy) -> Change:
    """Put a backup in its place."""
    copy.back_to_the_backup()
    return Change(copy.story.backed_up + 1)


def fork_the_database(copy: Copy) -> Change:
    """Put a backup in its place, and go on with other events, more than there were."""
    copy.back_to_the_backup()
    go_on(copy.place, "other")
    go_on(copy.place, "more")
    return Change(copy.story.backed_up + 1)


# ── Tables ──────────────────────────────────────────────────────────────────────────────────────────────────
def change_a_balance(copy: Copy) -> Change:
    """Give a player a cent."""
    with copy.sql() as connection:
        return Change(tampering.a_balance(connection))


def change_a_meter(copy: Copy) -> Change:
    """Raise a jackpot's meter."""
    with copy.sql() as connection:
        return Change(tampering.a_meter(connection))


def change_a_ruleset(copy: Copy) -> Change:
    """Change the content of rules that were published."""
    with copy.sql() as connection:
        return Change(tampering.a_ruleset(connection))


def change_a_person(copy: Copy) -> Change:
    """Give a person another key."""
    with copy.sql() as connection:
        return Change(tampering.a_person(connection))


def change_a_posting(copy: Copy) -> Change:
    """Change a line of a player's statement."""
    with copy.sql() as connection:
        return Change(tampering.a_posting(connection))


def change_a_record(copy: Copy) -> Change:
    """Change what a hand won in its record."""
    with copy.sql() as connection:
        return Change(tampering.a_record(connection))


def change_the_trial_balance(copy: Copy) -> Change:
    """Move projected money from the house to the cashier: it still adds up to zero."""
    with copy.sql() as connection:
        return Change(tampering.the_trial_balance(connection))


def leave_the_guards_off(copy: Copy) -> Change:
    """Let recorded events be changed from now on."""
    with copy.sql():
        pass
    with psycopg.connect(copy.place.admin, autocommit=True) as connection:
        connection.execute("ALTER TABLE ledger.events DISABLE TRIGGER events_never_change")
    return Change(where=("events_never_change",))


def _dealt(connection: psycopg.Connection, round_id: str) -> Iterator[dict[str, Any]]:
    """The events of a round that tell whole hands, in order."""
    version = 1
    stream = f"round-{round_id}"
    while version <= _length(connection, stream):
        found = event(connection, position_of(connection, stream, version))
        if found["type"] in {"Dealt", "DealerQualified"}:
            yield found
        version += 1


def _length(connection: psycopg.Connection, stream: str) -> int:
    row = connection.execute("SELECT count(*) FROM ledger.events WHERE stream = %s", [stream]).fetchone()
    return 0 if row is None else int(row[0])


def _bytes(changed: dict[str, Any]) -> bytes:
    return orjson.dumps(changed, option=orjson.OPT_SORT_KEYS)
