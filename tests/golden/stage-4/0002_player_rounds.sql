-- Which rounds a player has staked on. Derived from the events, a moment after them, by
-- infrastructure/projections/player_rounds.py: the writer does not wait for it. A round's id begins with the time, so
-- that the key's order is the order in which the rounds opened.
CREATE TABLE player_rounds (
    player text COLLATE "C" NOT NULL,
    round_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (player, round_id)
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

-- How far each projection has come; written in the transaction that writes its rows.
CREATE TABLE projections (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL CHECK (position >= 0)
) WITH (fillfactor = 20, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_scale_factor = 0);
INSERT INTO projections (name, position) VALUES ('player_rounds', 0);

GRANT SELECT (player, round_id), INSERT (player, round_id) ON player_rounds TO {app};
GRANT SELECT (name, position), UPDATE (position) ON projections TO {app};
GRANT SELECT ON player_rounds, projections TO {auditor};
