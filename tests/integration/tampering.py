"""What a superuser can do to a ledger past its writer."""

from __future__ import annotations

from collections.abc import Callable

import orjson
import psycopg

from tests.integration.checked_ledger import edit, event, first, head, last_of, rewrite

Tamper = Callable[[psycopg.Connection], int]
"""Changes a ledger past its writer; returns the first position from which it is not what it was."""


# ── Tampering with what is kept ─────────────────────────────────────────────────────────────────────────────
def a_balance(connection: psycopg.Connection) -> int:
    """Give a player a cent."""
    connection.execute("UPDATE ledger.wallets SET balance = balance + 1 WHERE player = 'pANNA'")
    return last_of(connection, "round-R-OPEN")


def money_on_game(connection: psycopg.Connection) -> int:
    """Take a cent out of a stake."""
    connection.execute("UPDATE ledger.wallets SET on_game = on_game - 1 WHERE player = 'pANNA'")
    return last_of(connection, "round-R-OPEN")


def a_balance_for_anothers(connection: psycopg.Connection) -> int:
    """Move money between two players: all sums stay as they are."""
    connection.execute("UPDATE ledger.wallets SET balance = balance + 1 WHERE player = 'pANNA'")
    connection.execute(
        "UPDATE ledger.wallets SET balance = balance - 1 WHERE player ="
        " (SELECT min(player) FROM ledger.wallets WHERE currency = 'USD' AND player <> 'pANNA')"
    )
    rows = connection.execute(
        "SELECT max(e.position) FROM ledger_read.postings AS e WHERE player IN ('pANNA',"
        " (SELECT min(player) FROM ledger.wallets WHERE currency = 'USD' AND player <> 'pANNA'))"
        " GROUP BY player"
    ).fetchall()
    return int(min(position for (position,) in rows))


def a_wallet_that_is_gone(connection: psycopg.Connection) -> int:
    """Delete a player's wallet."""
    connection.execute("DELETE FROM ledger.wallets WHERE player = 'pANNA'")
    return last_of(connection, "round-R-OPEN")


def an_unfinished_round(connection: psycopg.Connection) -> int:
    """Let a player forget the round that is not finished."""
    connection.execute("UPDATE ledger.wallets SET unfinished = '{}' WHERE player = 'pANNA'")
    return last_of(connection, "round-R-OPEN")


def an_account(connection: psycopg.Connection) -> int:
    """Take the least there is out of the house's account."""
    connection.execute("UPDATE ledger.accounts SET balance = balance - 1 WHERE account = 'house:real'")
    return first(connection, "JackpotAdjusted")


def a_meter(connection: psycopg.Connection) -> int:
    """Raise a jackpot's meter."""
    connection.execute("UPDATE ledger.jackpots SET meter = meter + 1 WHERE jackpot_id = 'pot'")
    return first(connection, "JackpotTransferred")


def an_overflow(connection: psycopg.Connection) -> int:
    """Raise a jackpot's overflow pool."""
    ((state,),) = connection.execute("SELECT state FROM ledger.jackpots WHERE jackpot_id = 'pot'").fetchall()
    changed = orjson.dumps({**orjson.loads(state), "overflow": "1"})
    connection.execute("UPDATE ledger.jackpots SET state = %s WHERE jackpot_id = 'pot'", [changed])
    return first(connection, "JackpotTransferred")


def an_open_round(connection: psycopg.Connection) -> int:
    """Lose a round that is not finished."""
    connection.execute("DELETE FROM ledger.open_rounds WHERE round_id = 'R-OPEN'")
    return last_of(connection, "round-R-OPEN")


def a_round_that_is_not_open(connection: psycopg.Connection) -> int:
    """Open a round past the events."""
    connection.execute("INSERT INTO ledger.open_rounds VALUES (NULL, false, 'R-NEVER', 'mine')")
    return head(connection)


def a_transfer(connection: psycopg.Connection) -> int:
    """Change what a cashier's reference stands for."""
    connection.execute("UPDATE ledger.transfers SET amount = 7 WHERE player = 'pANNA' AND direction = 'in'")
    return last_of(connection, "wallet-pANNA") - 1


def a_transfer_that_never_was(connection: psycopg.Connection) -> int:
    """Use up a cashier's reference."""
    connection.execute("INSERT INTO ledger.transfers VALUES ('pANNA', 'in', 'forged', 5, '{}')")
    return head(connection)


def a_person(connection: psycopg.Connection) -> int:
    """Give a person another key."""
    ((state,),) = connection.execute(
        "SELECT state FROM ledger.registers WHERE name = 'person-ada'"
    ).fetchall()
    changed = orjson.dumps({**orjson.loads(state), "public_key": "C" * 43})
    connection.execute("UPDATE ledger.registers SET state = %s WHERE name = 'person-ada'", [changed])
    return last_of(connection, "person-ada")


def the_logs_key(connection: psycopg.Connection) -> int:
    """Let the log be signed by the key before."""
    ((state,),) = connection.execute("SELECT state FROM ledger.registers WHERE name = 'log'").fetchall()
    log = orjson.loads(state)
    changed = orjson.dumps({**log, "keys": log["keys"][1:]})
    connection.execute("UPDATE ledger.registers SET state = %s WHERE name = 'log'", [changed])
    return first(connection, "ArchiveExported")


def an_audit(connection: psycopg.Connection) -> int:
    """Take away that there was an audit."""
    connection.execute("DELETE FROM ledger.registers WHERE name = 'audit-audit-1'")
    return first(connection, "AuditFinished")


def the_software(connection: psycopg.Connection) -> int:
    """Let other software be what was accepted."""
    ((state,),) = connection.execute("SELECT state FROM ledger.registers WHERE name = 'software'").fetchall()
    changed = orjson.dumps({**orjson.loads(state), "accepted": {}})
    connection.execute("UPDATE ledger.registers SET state = %s WHERE name = 'software'", [changed])
    return first(connection, "SoftwareVerified") + 1


def a_table(connection: psycopg.Connection) -> int:
    """Put somebody else in a player's place."""
    ((state,),) = connection.execute("SELECT state FROM ledger.tables WHERE table_id = 'mine'").fetchall()
    changed = orjson.dumps({**orjson.loads(state), "places": {"pANNA": 4}})
    connection.execute("UPDATE ledger.tables SET state = %s WHERE table_id = 'mine'", [changed])
    return last_of(connection, "table-mine")


def a_ruleset(connection: psycopg.Connection) -> int:
    """Change the content of a published rule set."""
    connection.execute("UPDATE ledger.rulesets SET content = content || ' ' WHERE ruleset_id = 'czech'")
    return last_of(connection, "ruleset-czech")


def the_head(connection: psycopg.Connection) -> int:
    """Let the head say there was less."""
    connection.execute("UPDATE ledger.head SET position = position - 1")
    return head(connection)


# ── Tampering with events ───────────────────────────────────────────────────────────────────────────────────
def a_deposit_of_more(connection: psycopg.Connection) -> int:
    """Edit an amount, consistently with the event's own balance."""
    position = last_of(connection, "wallet-pANNA") - 1
    found = event(connection, position)["data"]
    edit(connection, position, amount=found["amount"] + 5, balance_after=found["balance_after"] + 5)
    return position


def a_balance_in_an_event(connection: psycopg.Connection) -> int:
    """Edit the balance that an event tells."""
    position = first(connection, "Raised")
    edit(connection, position, balance_after=1)
    return position


def a_bets_winnings(connection: psycopg.Connection) -> int:
    """Let a bet win more than was paid."""
    position = first(connection, "Settled")
    bets = event(connection, position)["data"]["bets"]
    edit(connection, position, bets=[{**bets[0], "won": bets[0]["won"] + 9}, *bets[1:]])
    return position


def a_meter_in_an_event(connection: psycopg.Connection) -> int:
    """Edit what a jackpot got of a side bet."""
    position = last_of(connection, "round-R-OPEN")
    edit(connection, position, contribution="69.5")
    return position


def who_approved(connection: psycopg.Connection) -> int:
    """Let one person have done what takes two."""
    position = first(connection, "ActionApproved")
    edit(connection, position, approved_by="ada", proposed_by="ada")
    return position


def an_event_that_is_gone(connection: psycopg.Connection) -> int:
    """Delete an event that moved no money."""
    position = first(connection, "BettingClosed")
    connection.execute("DELETE FROM ledger.events WHERE position = %s", [position])
    return position


def the_last_event(connection: psycopg.Connection) -> int:
    """Delete the last event, and only that."""
    position = head(connection)
    connection.execute("DELETE FROM ledger.events WHERE position = %s", [position])
    return position


def an_event_more(connection: psycopg.Connection) -> int:
    """Insert an event after the last one."""
    position = head(connection) + 1
    connection.execute(
        "INSERT INTO ledger.events SELECT %s, version + 1, data, stream FROM ledger.events"
        " WHERE position = %s",
        [position, position - 1],
    )
    return position


def a_forged_deposit(connection: psycopg.Connection) -> int:
    """Insert a deposit as it would be, and move the head; only the wallet is not changed."""
    position = head(connection) + 1
    forged = event(connection, last_of(connection, "wallet-pANNA") - 1)
    ((balance,),) = connection.execute("SELECT balance FROM ledger.wallets WHERE player = 'pANNA'").fetchall()
    ((at_us,),) = connection.execute("SELECT recorded_at_us FROM ledger.head").fetchall()
    forged |= {"position": position, "version": 4, "recorded_at": "2999-01-01T00:00:00.000000Z"}
    forged["data"] |= {"balance_after": balance + forged["data"]["amount"], "reference": "forged"}
    connection.execute(
        "INSERT INTO ledger.events VALUES (%s, 4, %s, 'wallet-pANNA')",
        [position, orjson.dumps(forged, option=orjson.OPT_SORT_KEYS)],
    )
    connection.execute("UPDATE ledger.head SET position = %s, recorded_at_us = %s", [position, at_us])
    return position


def two_events_in_each_others_place(connection: psycopg.Connection) -> int:
    """Reorder two events, their positions in the bytes included."""
    position = first(connection, "BettingClosed")
    one, two = event(connection, position), event(connection, position + 1)
    for at, found in ((position, two), (position + 1, one)):
        rewrite(connection, at, {**found, "position": at})
    return position


def bytes_that_say_the_same(connection: psycopg.Connection) -> int:
    """Write an event's JSON in another form."""
    position = first(connection, "Folded")
    data = orjson.dumps(event(connection, position), option=orjson.OPT_SORT_KEYS | orjson.OPT_INDENT_2)
    connection.execute("UPDATE ledger.events SET data = %s WHERE position = %s", [data, position])
    return position


def bytes_that_say_nothing(connection: psycopg.Connection) -> int:
    """Write something that is no event."""
    position = first(connection, "Folded")
    connection.execute("UPDATE ledger.events SET data = '[]' WHERE position = %s", [position])
    return position


def a_time(connection: psycopg.Connection) -> int:
    """Let an event have been recorded before the one before."""
    position = first(connection, "Folded")
    rewrite(
        connection, position, {**event(connection, position), "recorded_at": "2020-01-01T00:00:00.000000Z"}
    )
    return position


# ── Tampering with what was projected ───────────────────────────────────────────────────────────────────────
def a_posting(connection: psycopg.Connection) -> int:
    """Change a line of a statement."""
    position = first(connection, "Settled")
    connection.execute("UPDATE ledger_read.postings SET wallet = wallet + 1 WHERE position = %s", [position])
    return position


def a_posting_more(connection: psycopg.Connection) -> int:
    """Add a line to a statement."""
    connection.execute(
        "INSERT INTO ledger_read.postings SELECT (jsonb_populate_record(p, '{\"position\": 2}')).*"
        " FROM ledger_read.postings AS p WHERE position = (SELECT min(position) FROM ledger_read.postings)"
    )
    return head(connection)


def a_record(connection: psycopg.Connection) -> int:
    """Change what a hand won in its record."""
    ((position,),) = connection.execute(
        "UPDATE ledger_read.round_records SET game_win = game_win + 1 WHERE (round_id, seat) ="
        " (SELECT round_id, seat FROM ledger_read.round_records ORDER BY ended_position LIMIT 1)"
        " RETURNING ended_position"
    ).fetchall()
    return int(position)


def a_record_that_is_gone(connection: psycopg.Connection) -> int:
    """Lose a hand's record."""
    ((position,),) = connection.execute(
        "DELETE FROM ledger_read.round_records WHERE (round_id, seat) ="
        " (SELECT round_id, seat FROM ledger_read.round_records ORDER BY ended_position LIMIT 1)"
        " RETURNING ended_position"
    ).fetchall()
    return int(position)


def the_trial_balance(connection: psycopg.Connection) -> int:
    """Move projected money from the house to the cashier: it still adds up to zero."""
    for account, amount in (("house:real:us-casino", 1), ("cashier:real", -1)):
        connection.execute(
            "UPDATE ledger_read.trial_balance_now SET balance = balance + %s"
            " WHERE account = %s AND currency = 'USD'",
            [amount, account],
        )
    return head(connection)


def figures_of_a_game(connection: psycopg.Connection) -> int:
    """Let a game have kept less."""
    connection.execute(
        "UPDATE ledger_read.performance SET returned = returned + 1 WHERE hour_us ="
        " (SELECT min(hour_us) FROM ledger_read.performance) AND hands > 0"
    )
    return head(connection)


def a_jackpots_day(connection: psycopg.Connection) -> int:
    """Change a jackpot's roll-forward."""
    connection.execute(
        "UPDATE ledger_read.jackpot_days SET contributions = contributions + 1, meter_net = meter_net + 1"
        " WHERE jackpot_id = 'pot'"
    )
    return head(connection)


def a_players_round(connection: psycopg.Connection) -> int:
    """Take a round off a player's list."""
    connection.execute("DELETE FROM ledger_read.player_rounds WHERE round_id = 'R-OPEN'")
    return head(connection)


TAMPERINGS: list[tuple[Tamper, str]] = [
    (a_balance, "wallets"),
    (money_on_game, "wallets"),
    (a_balance_for_anothers, "wallets"),
    (a_wallet_that_is_gone, "wallets"),
    (an_unfinished_round, "wallets"),
    (an_account, "accounts"),
    (a_meter, "jackpots"),
    (an_overflow, "jackpots"),
    (an_open_round, "open_rounds"),
    (a_round_that_is_not_open, "open_rounds"),
    (a_transfer, "transfers"),
    (a_transfer_that_never_was, "transfers"),
    (a_person, "registers"),
    (the_software, "registers"),
    (the_logs_key, "registers"),
    (an_audit, "registers"),
    (a_table, "tables"),
    (a_ruleset, "rulesets"),
    (the_head, "head"),
    (a_deposit_of_more, "transfers"),
    (a_balance_in_an_event, "balance"),
    (a_bets_winnings, "balance"),
    (a_meter_in_an_event, "contribution"),
    (who_approved, "approval"),
    (an_event_that_is_gone, "position_gap"),
    (the_last_event, "head"),
    (an_event_more, "head"),
    (a_forged_deposit, "wallets"),
    (two_events_in_each_others_place, "place"),
    (bytes_that_say_the_same, "canonical"),
    (bytes_that_say_nothing, "unreadable"),
    (a_time, "time"),
    (a_posting, "postings"),
    (a_posting_more, "postings"),
    (a_record, "round_records"),
    (a_record_that_is_gone, "round_records"),
    (the_trial_balance, "trial_balance"),
    (figures_of_a_game, "performance"),
    (a_jackpots_day, "jackpot_days"),
    (a_players_round, "player_rounds"),
]
"""Each with the name of what is found."""
