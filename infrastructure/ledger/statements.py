"""The statements of the writer's store, by name. Parameters are typed where they stand; all lists are arrays.

MERGE, not INSERT ... ON CONFLICT: it updates without first locking the row by an update of its own. That is
safe here because only the holder of the head row writes, so nobody inserts between its looking and its
writing.
"""

from __future__ import annotations

from typing import Final

from psycopg import sql

_SETTINGS: Final = """
SELECT current_setting('fsync'), current_setting('full_page_writes'), current_setting('server_version_num'),
    set_config('synchronous_commit',
        CASE current_setting('synchronous_commit') WHEN 'remote_apply' THEN 'remote_apply' ELSE 'on' END,
        false),
    set_config('lock_timeout', $1::text, false),
    set_config('statement_timeout', $2::text, false),
    set_config('idle_in_transaction_session_timeout', $2::text, false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('plan_cache_mode', 'force_generic_plan', false),
    set_config('enable_seqscan', 'off', false),
    set_config('enable_hashjoin', 'off', false),
    set_config('enable_mergejoin', 'off', false),
    set_config('jit', 'off', false)
"""

_PARTS: Final = {
    "command": "id, fingerprint, outcome, body, position, salt",
    "wallet": "player, player_id, currency, account_class, version, balance, on_game, unfinished",
    "open_round": "round_id, table_id, sealed, answer_sha256, deadline_us, unsettled",
    # What changed since a position. Where the head has not moved the table is not looked at.
    "moved": "(SELECT position FROM {schema}.head) <> $1::bigint AND position > $1::bigint",
}

_READING: Final = {
    "head": "SELECT position, recorded_at_us FROM {schema}.head WHERE one FOR UPDATE",
    "commands": "SELECT {command} FROM {schema}.commands WHERE id = ANY ($1::bytea[])",
    "tables": "SELECT table_id, position, state FROM {schema}.tables WHERE {moved}",
    "jackpots": """
        SELECT jackpot_id, position, meter::text, enabled, state FROM {schema}.jackpots WHERE {moved}""",
    "rulesets": """
        SELECT ruleset_id, version, position, sha256, content FROM {schema}.rulesets WHERE {moved}
        ORDER BY position""",
    # The first half is for a writer that knows nothing yet.
    "registers": """
        SELECT name, position, active, state FROM {schema}.registers WHERE $1::bigint = 0 AND active
        UNION ALL
        SELECT name, position, active, state FROM {schema}.registers WHERE $1::bigint <> 0 AND {moved}""",
    "registers_by_name": """
        SELECT name, position, active, state FROM {schema}.registers WHERE name = ANY ($1::text[])""",
    "wallets_by_player_id": "SELECT {wallet} FROM {schema}.wallets WHERE player_id = ANY ($1::text[])",
    "wallets_by_player": """
        SELECT {wallet} FROM {schema}.wallets
        WHERE player = ANY ($1::text[]) OR player_id = ANY ($2::text[])""",
    "later_events": """
        SELECT e.stream, e.data
        FROM unnest($1::text[], $2::integer[]) AS known (stream, version)
        JOIN {schema}.events AS e ON e.stream = known.stream AND e.version > known.version
        WHERE (SELECT position FROM {schema}.head) <> $3::bigint
        ORDER BY e.stream, e.version""",
    "new_events": """
        SELECT stream, data FROM {schema}.events WHERE stream = ANY ($1::text[]) ORDER BY stream, version""",
    "open_rounds": "SELECT {open_round} FROM {schema}.open_rounds WHERE round_id = ANY ($1::text[])",
    "later_open_rounds": """
        SELECT {open_round} FROM {schema}.open_rounds
        WHERE (SELECT position FROM {schema}.head) <> $2::bigint AND round_id = ANY ($1::text[])""",
    "transfers": """
        SELECT t.player, t.direction, t.reference, t.amount, t.answer
        FROM unnest($1::text[], $2::text[], $3::text[]) AS wanted (player_id, direction, reference)
        JOIN {schema}.wallets AS w ON w.player_id = wanted.player_id
        JOIN {schema}.transfers AS t
            ON t.player = w.player AND t.direction = wanted.direction AND t.reference = wanted.reference""",
}

_WRITING: Final = {
    "write_events": """
        INSERT INTO {schema}.events (position, version, stream, data)
        SELECT $1::bigint + number, version, stream, data
        FROM unnest($2::integer[], $3::text[], $4::bytea[])
            WITH ORDINALITY AS e (version, stream, data, number)""",
    "write_commands": """
        INSERT INTO {schema}.commands (id, fingerprint, outcome, body, position, salt)
        SELECT *
        FROM unnest($1::bytea[], $2::bytea[], $3::integer[], $4::bytea[], $5::bigint[], $6::bytea[])""",
    "write_wallets": """
        MERGE INTO {schema}.wallets AS w USING unnest($1::text[], $2::text[], $3::text[], $4::text[],
        $5::integer[], $6::bigint[], $7::bigint[], $8::text[])
            AS new (player, player_id, currency, account_class, version, balance, on_game, unfinished)
            ON w.player = new.player
        WHEN MATCHED THEN UPDATE SET player_id = new.player_id, version = new.version, balance = new.balance,
            on_game = new.on_game, unfinished = new.unfinished
        WHEN NOT MATCHED THEN
            INSERT (player, player_id, currency, account_class, version, balance, on_game, unfinished) VALUES
            (new.player, new.player_id, new.currency, new.account_class, new.version, new.balance,
            new.on_game,
                new.unfinished)""",
    "write_accounts": """
        MERGE INTO {schema}.accounts AS a
        USING unnest($1::text[], $2::text[], $3::text[]) AS new (account, currency, delta)
            ON a.account = new.account AND a.currency = new.currency
        WHEN MATCHED THEN UPDATE SET balance = a.balance + new.delta::numeric
        WHEN NOT MATCHED THEN
            INSERT (account, currency, balance) VALUES (new.account, new.currency, new.delta::numeric)""",
    "write_jackpots": """
        MERGE INTO {schema}.jackpots AS j
        USING unnest($1::text[], $2::bigint[], $3::text[], $4::integer[], $5::bytea[])
            AS new (jackpot_id, position, meter, enabled, state)
            ON j.jackpot_id = new.jackpot_id
        WHEN MATCHED THEN UPDATE SET position = new.position, meter = new.meter::numeric, enabled =
        new.enabled <> 0,
            state = new.state
        WHEN NOT MATCHED THEN
            INSERT (jackpot_id, position, meter, enabled, state)
            VALUES (new.jackpot_id, new.position, new.meter::numeric, new.enabled <> 0, new.state)""",
    "write_tables": """
        MERGE INTO {schema}.tables AS t
        USING unnest($1::text[], $2::bigint[], $3::bytea[]) AS new (table_id, position, state)
            ON t.table_id = new.table_id
        WHEN MATCHED THEN UPDATE SET position = new.position, state = new.state
        WHEN NOT MATCHED THEN
            INSERT (table_id, position, state) VALUES (new.table_id, new.position, new.state)""",
    "write_rulesets": """
        INSERT INTO {schema}.rulesets (ruleset_id, version, position, sha256, content)
        SELECT * FROM unnest($1::text[], $2::integer[], $3::bigint[], $4::text[], $5::bytea[])""",
    "write_open_rounds": """
        MERGE INTO {schema}.open_rounds AS o
        USING unnest($1::text[], $2::text[], $3::bytea[], $4::text[], $5::bigint[], $6::integer[])
            AS new (round_id, table_id, sealed, answer_sha256, deadline_us, unsettled)
            ON o.round_id = new.round_id
        WHEN MATCHED THEN UPDATE SET sealed = new.sealed, answer_sha256 = new.answer_sha256,
            deadline_us = new.deadline_us, unsettled = new.unsettled <> 0
        WHEN NOT MATCHED THEN
            INSERT (round_id, table_id, sealed, answer_sha256, deadline_us, unsettled)
            VALUES (new.round_id, new.table_id, new.sealed, new.answer_sha256, new.deadline_us,
                new.unsettled <> 0)""",
    "close_rounds": "DELETE FROM {schema}.open_rounds WHERE round_id = ANY ($1::text[])",
    "write_transfers": """
        INSERT INTO {schema}.transfers (player, direction, reference, amount, answer)
        SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bigint[], $5::bytea[])""",
    "write_registers": """
        MERGE INTO {schema}.registers AS r
        USING unnest($1::text[], $2::bigint[], $3::integer[], $4::bytea[])
            AS new (name, position, active, state)
            ON r.name = new.name
        WHEN MATCHED THEN
            UPDATE SET position = new.position, active = new.active <> 0, state = new.state
        WHEN NOT MATCHED THEN
            INSERT (name, position, active, state)
            VALUES (new.name, new.position, new.active <> 0, new.state)""",
    # A commit that waits for a standby may not be timed out: PostgreSQL would give up and report success.
    "write_head": """
        UPDATE {schema}.head SET position = $1::bigint, recorded_at_us = $2::bigint WHERE one
        RETURNING set_config('statement_timeout', '0', true)""",
}


def for_schema(schema: str) -> dict[str, str]:
    """Return every statement by its name, for the ledger in an SQL schema."""
    texts = {
        "settings": _SETTINGS,
        "begin": "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
        "commit": "COMMIT",
        "rollback": "ROLLBACK",
        **_READING,
        **_WRITING,
    }
    quoted = sql.Identifier(schema)
    parts = {name: sql.SQL(part).format(schema=quoted) for name, part in _PARTS.items()}
    return {
        name: sql.SQL(text).format(schema=quoted, **parts).as_string(None) for name, text in texts.items()
    }
