-- Events in partitions by position, so that a ledger of many years stays a set of tables of a known size: old ones
-- can be detached, kept elsewhere and attached again (scripts/partitions) without touching the others.
--
-- What stands in `events` becomes the first partition as it is: nothing is written anew, it is read once, to see that
-- every position is in its range.
--
-- Unique (stream, version) is per partition: PostgreSQL has no unique index over partitions without the key of the
-- partitioning. Within a partition it stays the last guard. Across the edge of two partitions there are still: the
-- lock on the head row, under which each version is counted on from the last one; and the checker, which counts every
-- stream's versions again, from the events alone.
ALTER TABLE events RENAME TO events_1;
ALTER INDEX events_pkey RENAME TO events_1_pkey;
ALTER INDEX events_stream_version_key RENAME TO events_1_stream_version_key;
ALTER TRIGGER events_never_change ON events_1 RENAME TO events_1_never_change;
ALTER TRIGGER events_rows_never_change ON events_1 RENAME TO events_1_rows_never_change;
REVOKE ALL ON events_1 FROM {app}, {auditor};
REVOKE ALL (position, version, stream, data) ON events_1 FROM {app};

CREATE TABLE events (
    position bigint NOT NULL CONSTRAINT events_position_check CHECK (position > 0),
    version integer NOT NULL CONSTRAINT events_version_check CHECK (version > 0),
    data bytea NOT NULL CONSTRAINT events_data_check CHECK (length(data) <= 65534),
    stream text COLLATE "C" NOT NULL,
    PRIMARY KEY (position)
) PARTITION BY RANGE (position);

-- The statement trigger of a parent is asked first, whatever rows a change would reach; a change of a partition by its
-- own name meets the partition's own triggers. These are not inherited: a partition that is detached keeps them.
CREATE TRIGGER events_never_change BEFORE UPDATE OR DELETE OR TRUNCATE ON events
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE events ENABLE ALWAYS TRIGGER events_never_change;

-- Rights are on the parent alone: nobody but the owner has anything to do with a partition by its name.
GRANT SELECT (position, version, stream, data), INSERT (position, version, stream, data) ON events TO {app};
GRANT SELECT ON events TO {auditor};

-- Which positions were taken out of the order of the ledger, where they went, and the ledger's first event, which
-- says what kind of ledger it is. Nothing up to the highest `last_position` can be read from `events`.
CREATE TABLE horizon (
    first_position bigint PRIMARY KEY CHECK (first_position > 0),
    last_position bigint NOT NULL CHECK (last_position >= first_position),
    partition text COLLATE "C" NOT NULL,
    recorded_at_us bigint NOT NULL,
    first_event bytea NOT NULL,
    archived_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
GRANT SELECT ON horizon TO {app}, {auditor};

-- Where a range of positions is a table of its own, with its guards, and part of the ledger. Made apart and attached:
-- that takes no lock which reading or writing would wait for.
CREATE FUNCTION add_partition(first_position bigint, next_position bigint) RETURNS text
LANGUAGE plpgsql SET search_path = pg_catalog, pg_temp AS $add$
DECLARE
    name text := 'events_' || first_position;
BEGIN
    EXECUTE format(
        'CREATE TABLE {schema}.%1$I (LIKE {schema}.events INCLUDING CONSTRAINTS,'
        ' CONSTRAINT %2$I CHECK (position >= %3$s AND position < %4$s),'
        ' CONSTRAINT %5$I PRIMARY KEY (position),'
        -- Six of a usual round's ten events are written when it opens, at the right end of this index, four when it
        -- ends: a page that is left two thirds full is full when its rounds are closed.
        ' CONSTRAINT %6$I UNIQUE (stream, version) WITH (fillfactor = 66)'
        -- Insert-only: vacuum has nothing to clean here but freezes early, so that no anti-wraparound run has it all.
        ') WITH (autovacuum_vacuum_insert_scale_factor = 0.02, autovacuum_freeze_min_age = 1000000)',
        name, name || '_range', first_position, next_position, name || '_pkey', name || '_stream_version_key');
    EXECUTE format('CREATE TRIGGER %2$I BEFORE UPDATE OR DELETE OR TRUNCATE ON {schema}.%1$I'
        ' FOR EACH STATEMENT EXECUTE FUNCTION {schema}.refuse_change()', name, name || '_never_change');
    EXECUTE format('CREATE TRIGGER %2$I BEFORE UPDATE OR DELETE ON {schema}.%1$I'
        ' FOR EACH ROW EXECUTE FUNCTION {schema}.refuse_change()', name, name || '_rows_never_change');
    EXECUTE format('ALTER TABLE {schema}.%1$I ENABLE ALWAYS TRIGGER %2$I, ENABLE ALWAYS TRIGGER %3$I',
        name, name || '_never_change', name || '_rows_never_change');
    EXECUTE format('ALTER TABLE {schema}.events ATTACH PARTITION {schema}.%I FOR VALUES FROM (%s) TO (%s)',
        name, first_position, next_position);
    RETURN name;
END
$add$;
REVOKE ALL ON FUNCTION add_partition(bigint, bigint) FROM PUBLIC;

-- The positions of the partitions, in order.
CREATE FUNCTION partitions() RETURNS TABLE (name text, first_position bigint, next_position bigint)
LANGUAGE sql STABLE SET search_path = pg_catalog, pg_temp AS $partitions$
    SELECT c.relname::text, bounds[1]::bigint, bounds[2]::bigint
    FROM pg_inherits JOIN pg_class AS c ON c.oid = inhrelid,
        regexp_match(pg_get_expr(relpartbound, c.oid), 'FROM \(''(\d+)''\) TO \(''(\d+)''\)') AS bounds
    WHERE inhparent = '{schema}.events'::regclass ORDER BY 2
$partitions$;

-- Keeps two partitions ready beyond the one that is written; returns how many it made. The application calls it
-- (infrastructure/partitions.py), who may not make tables itself, and gets no say in what is made.
CREATE FUNCTION make_partitions() RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $make$
DECLARE
    size constant bigint := 10000000;
    spare constant integer := 2;
    made integer := 0;
    following bigint;
    head bigint;
BEGIN
    SELECT position INTO head FROM {schema}.head;
    IF (SELECT count(*) FROM {schema}.partitions() AS p WHERE p.first_position > head + 1) >= spare THEN
        RETURN 0;
    END IF;
    LOCK TABLE {schema}.events IN SHARE UPDATE EXCLUSIVE MODE;  -- one at a time; reading and writing go on
    LOOP
        SELECT position INTO head FROM {schema}.head;
        EXIT WHEN (SELECT count(*) FROM {schema}.partitions() AS p WHERE p.first_position > head + 1) >= spare;
        SELECT coalesce(max(p.next_position), 1) INTO following FROM {schema}.partitions() AS p;
        PERFORM {schema}.add_partition(following, (following - 1) / size * size + size + 1);
        made := made + 1;
    END LOOP;
    RETURN made;
END
$make$;
REVOKE ALL ON FUNCTION make_partitions() FROM PUBLIC;
GRANT EXECUTE ON FUNCTION make_partitions() TO {app};

DO $attach$
DECLARE
    next_position bigint := ((SELECT position FROM head) / 10000000 + 1) * 10000000 + 1;
BEGIN
    EXECUTE format('ALTER TABLE events_1 ADD CONSTRAINT events_1_range CHECK (position >= 1 AND position < %s)',
        next_position);
    EXECUTE format('ALTER TABLE events ATTACH PARTITION events_1 FOR VALUES FROM (1) TO (%s)', next_position);
    PERFORM make_partitions();
END
$attach$;
