-- Small facts that every writer always has in memory: the people who approve, what waits for their approval, and what
-- is known of the software. `active` says what is brought to memory at a start: an approval that is decided stays here
-- to be looked up and no longer is. Derived from the events, like the other rows that the writer keeps.
CREATE TABLE registers (
    name text COLLATE "C" PRIMARY KEY,
    position bigint NOT NULL,
    active boolean NOT NULL,
    state bytea NOT NULL
) WITH (fillfactor = 70);
-- What has changed since a writer last looked is found by its position, what it begins with by its being active: neither
-- depends on how much was ever decided.
CREATE INDEX registers_position ON registers (position);
CREATE INDEX registers_active ON registers (name) WHERE active;

GRANT SELECT (name, position, active, state), INSERT (name, position, active, state),
    UPDATE (position, active, state) ON registers TO {app};
GRANT SELECT ON registers TO {auditor};
