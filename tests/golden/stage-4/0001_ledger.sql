-- The ledger of one operator: one SQL schema, one head row, one order of events.
--
-- {schema}, {owner}, {app} and {auditor} are filled in by infrastructure/bootstrap.py; the search path is the schema.
-- Text is compared by byte (collation "C"): it is faster, and an upgrade of the system's locale cannot corrupt an index.

-- The lock on this one row is the order of the ledger. It is updated by every batch, so its page is kept nearly
-- empty: each update finds room beside the last (a heap-only tuple), and the next reader prunes what is dead.
CREATE TABLE head (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    position bigint NOT NULL CHECK (position >= 0),
    recorded_at_us bigint NOT NULL
) WITH (fillfactor = 10, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
INSERT INTO head (position, recorded_at_us) VALUES (0, 0);

-- Nothing stands here that is not needed to find an event. Its type, its time and who asked for it are in the bytes,
-- which are hashed and signed; a second copy in a column could disagree with them, and only the bytes would be proved.
-- Insert-only: vacuum has nothing to clean here but freezes early, so that no anti-wraparound run has it all to do.
CREATE TABLE events (
    position bigint PRIMARY KEY CHECK (position > 0),
    version integer NOT NULL CHECK (version > 0),
    data bytea NOT NULL CHECK (length(data) <= 65534),
    stream text COLLATE "C" NOT NULL,
    -- Six of a usual round's ten events are written when it opens, at the right end of this index, four when it ends:
    -- a page that is left two thirds full is full when its rounds are closed.
    UNIQUE (stream, version) WITH (fillfactor = 66)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_freeze_min_age = 1000000);

-- What the ledger decided, for ever. `body` is compressed by the application (infrastructure/ledger/answers.py).
CREATE TABLE commands (
    position bigint NOT NULL,
    outcome smallint NOT NULL CHECK (outcome IN (0, 1)),
    id bytea PRIMARY KEY CHECK (length(id) = 16),
    fingerprint bytea NOT NULL CHECK (length(fingerprint) = 16),
    -- Goes before the answer where an event tells its hash: without it nobody finds the answer by trying.
    salt bytea CHECK (length(salt) = 8),
    body bytea NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.02);
ALTER TABLE commands ALTER COLUMN body SET STORAGE EXTERNAL;

-- The last guard against an overdraft (G2). `player_id` is the operator's; it stands nowhere in the events, and taking
-- it away leaves only a random pseudonym. 9e15 stays below 2^53 - 1, which every JSON reader holds exactly.
CREATE TABLE wallets (
    balance bigint NOT NULL CONSTRAINT wallets_no_overdraft CHECK (balance BETWEEN 0 AND 9000000000000000),
    on_game bigint NOT NULL CHECK (on_game BETWEEN 0 AND 9000000000000000),
    version integer NOT NULL CHECK (version > 0),
    player text COLLATE "C" PRIMARY KEY,
    player_id text COLLATE "C" UNIQUE,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    account_class text COLLATE "C" NOT NULL CHECK (account_class IN ('real', 'test')),
    unfinished text COLLATE "C" NOT NULL
) WITH (fillfactor = 60, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0.05);

-- House and cashier, in 1/10000 minor units, negative or not.
CREATE TABLE accounts (
    account text COLLATE "C" NOT NULL,
    currency text COLLATE "C" NOT NULL CHECK (length(currency) = 3),
    balance numeric NOT NULL,
    PRIMARY KEY (account, currency)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

-- A meter is in 1/10000 minor units: 9e15 of those times ten thousand do not fit 64 bits.
CREATE TABLE jackpots (
    jackpot_id text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    meter numeric(20, 0) NOT NULL CHECK (meter BETWEEN 0 AND 90000000000000000000),
    enabled boolean NOT NULL,
    state bytea NOT NULL
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);

CREATE TABLE tables (
    table_id text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    state bytea NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE rulesets (
    ruleset_id text COLLATE "C" NOT NULL,
    version integer NOT NULL CHECK (version > 0),
    position bigint NOT NULL,
    sha256 text COLLATE "C" NOT NULL CHECK (length(sha256) = 64),
    content bytea NOT NULL,
    PRIMARY KEY (ruleset_id, version)
);

-- Rounds that are not finished. `sealed` is the encrypted seed of the deck: not in the events, and gone with the row.
CREATE TABLE open_rounds (
    deadline_us bigint,
    unsettled boolean NOT NULL,
    round_id text COLLATE "C" PRIMARY KEY,
    table_id text COLLATE "C" NOT NULL,
    sealed bytea,
    answer_sha256 text COLLATE "C"
) WITH (fillfactor = 50, autovacuum_vacuum_threshold = 2000, autovacuum_vacuum_scale_factor = 0.1);
CREATE INDEX open_rounds_deadline ON open_rounds (deadline_us) WHERE deadline_us IS NOT NULL;
CREATE INDEX open_rounds_unsettled ON open_rounds (round_id) WHERE unsettled;

-- The cashier's transfers: a reference is unique per player and direction.
CREATE TABLE transfers (
    player text COLLATE "C" NOT NULL,
    direction text COLLATE "C" NOT NULL CHECK (direction IN ('in', 'out')),
    reference text COLLATE "C" NOT NULL,
    amount bigint NOT NULL CHECK (amount > 0),
    answer bytea NOT NULL,
    PRIMARY KEY (player, direction, reference)
);

-- Free text stands in the events only as a salted hash; the text itself can be erased.
CREATE TABLE notes (
    sha256 text COLLATE "C" PRIMARY KEY CHECK (length(sha256) = 64),
    salt bytea NOT NULL,
    note text NOT NULL
);

-- ── What is recorded never changes (G12) ─────────────────────────────────────────────────────────────────────────
-- Statement triggers refuse even a change of no rows; row triggers also stand in the way of logical replication, which
-- fires no others. ENABLE ALWAYS: session_replication_role does not switch them off.
CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql SET search_path = pg_catalog AS $refuse$
BEGIN
    RAISE EXCEPTION '% on % is refused: what the ledger recorded never changes; a correction is a new event',
        TG_OP, TG_TABLE_NAME USING ERRCODE = 'restrict_violation';
END
$refuse$;

CREATE TRIGGER events_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER events_rows_never_change BEFORE UPDATE OR DELETE ON events
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commands_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON commands
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER commands_rows_never_change BEFORE UPDATE OR DELETE ON commands
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transfers_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON transfers
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER transfers_rows_never_change BEFORE UPDATE OR DELETE ON transfers
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rulesets_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON rulesets
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER rulesets_rows_never_change BEFORE UPDATE OR DELETE ON rulesets
    FOR EACH ROW EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_never_change;
ALTER TABLE events ENABLE ALWAYS TRIGGER events_rows_never_change;
ALTER TABLE commands ENABLE ALWAYS TRIGGER commands_never_change;
ALTER TABLE commands ENABLE ALWAYS TRIGGER commands_rows_never_change;
ALTER TABLE transfers ENABLE ALWAYS TRIGGER transfers_never_change;
ALTER TABLE transfers ENABLE ALWAYS TRIGGER transfers_rows_never_change;
ALTER TABLE rulesets ENABLE ALWAYS TRIGGER rulesets_never_change;
ALTER TABLE rulesets ENABLE ALWAYS TRIGGER rulesets_rows_never_change;

-- ── Who may do what ──────────────────────────────────────────────────────────────────────────────────────────────
-- Rights are given by column: a right on a whole table would also allow LOCK TABLE, with which one session could stop
-- all others. DELETE has no column form and is given where rows do leave.
GRANT USAGE ON SCHEMA {schema} TO {app}, {auditor};

GRANT SELECT (one, position, recorded_at_us), UPDATE (position, recorded_at_us) ON head TO {app};
GRANT SELECT (position, version, stream, data), INSERT (position, version, stream, data) ON events TO {app};
GRANT SELECT (position, outcome, id, fingerprint, salt, body),
    INSERT (position, outcome, id, fingerprint, salt, body)
    ON commands TO {app};
GRANT SELECT (balance, on_game, version, player, player_id, currency, account_class, unfinished),
    INSERT (balance, on_game, version, player, player_id, currency, account_class, unfinished),
    UPDATE (balance, on_game, version, player_id, unfinished) ON wallets TO {app};
GRANT SELECT (account, currency, balance), INSERT (account, currency, balance), UPDATE (balance)
    ON accounts TO {app};
GRANT SELECT (jackpot_id, position, meter, enabled, state), INSERT (jackpot_id, position, meter, enabled, state),
    UPDATE (position, meter, enabled, state) ON jackpots TO {app};
GRANT SELECT (table_id, position, state), INSERT (table_id, position, state), UPDATE (position, state)
    ON tables TO {app};
GRANT SELECT (ruleset_id, version, position, sha256, content), INSERT (ruleset_id, version, position, sha256, content)
    ON rulesets TO {app};
GRANT SELECT (deadline_us, unsettled, round_id, table_id, sealed, answer_sha256),
    INSERT (deadline_us, unsettled, round_id, table_id, sealed, answer_sha256),
    UPDATE (deadline_us, unsettled, sealed, answer_sha256), DELETE ON open_rounds TO {app};
GRANT SELECT (player, direction, reference, amount, answer), INSERT (player, direction, reference, amount, answer)
    ON transfers TO {app};
GRANT SELECT (sha256, salt, note), INSERT (sha256, salt, note) ON notes TO {app};

GRANT SELECT ON head, events, commands, wallets, accounts, jackpots, tables, rulesets, transfers TO {auditor};
GRANT SELECT (deadline_us, unsettled, round_id, table_id, answer_sha256) ON open_rounds TO {auditor};
