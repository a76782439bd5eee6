-- A server that hands statements on (Citus) has a table under another name, users_102061, where its rows are, and nothing there says which
-- schema is meant; so the triggers of names say it themselves. Everywhere else they do what they did.
CREATE OR REPLACE FUNCTION add_name_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    kind text;
BEGIN
    IF TG_TABLE_NAME = 'users' THEN
        INSERT INTO name_words (network_id, list, key, id)
        SELECT network_id, 'users', left(tail, 100), user_id FROM added, name_tails(display_name) AS tail WHERE NOT deleted
        ON CONFLICT DO NOTHING;
    ELSIF TG_TABLE_NAME = 'channels' THEN
        INSERT INTO name_words (network_id, list, key, id)
        SELECT network_id, 'channels', left(tail, 100), channel_id FROM added, name_tails(display_name) AS tail WHERE NOT deleted
        ON CONFLICT DO NOTHING;
    ELSE
        kind := CASE WHEN starts_with(TG_TABLE_NAME, 'users') THEN 'user' ELSE 'channel' END;
        EXECUTE format(
            'INSERT INTO %1$I.%2$I (network_id, list, key, id)
             SELECT network_id, %3$L, left(tail, 100), %4$I FROM added, %1$I.name_tails(display_name) AS tail WHERE NOT deleted
             ON CONFLICT DO NOTHING',
            TG_TABLE_SCHEMA,
            (SELECT 'name_words_' || shardid FROM pg_catalog.pg_dist_shard
             WHERE logicalrelid = to_regclass(format('%I.name_words', TG_TABLE_SCHEMA))),
            kind || 's', kind || '_id');
    END IF;
    RETURN NULL;
END
$$;

-- The argument is the column of the id. One word at a time, by its whole key, whatever the planner thinks of the table.
CREATE OR REPLACE FUNCTION change_name_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed text := to_jsonb(OLD) ->> TG_ARGV[0];
    tail    text;
    words   text;
BEGIN
    IF TG_TABLE_NAME NOT IN ('users', 'channels') THEN
        words := format('%I.%I', TG_TABLE_SCHEMA,
                        (SELECT 'name_words_' || shardid FROM pg_catalog.pg_dist_shard
                         WHERE logicalrelid = to_regclass(format('%I.name_words', TG_TABLE_SCHEMA))));
        IF NOT OLD.deleted THEN
            FOR tail IN EXECUTE format('SELECT %I.name_tails($1)', TG_TABLE_SCHEMA) USING OLD.display_name LOOP
                EXECUTE format('DELETE FROM %s WHERE network_id = $1 AND list = $2 AND key = left($3, 100) AND id = $4', words)
                USING OLD.network_id, replace(TG_ARGV[0], '_id', 's'), tail, changed;
            END LOOP;
        END IF;
        IF TG_OP = 'UPDATE' AND NOT NEW.deleted THEN
            EXECUTE format(
                'INSERT INTO %s (network_id, list, key, id)
                 SELECT $1, $2, left(word, 100), $3 FROM %I.name_tails($4) AS word ON CONFLICT DO NOTHING', words, TG_TABLE_SCHEMA)
            USING NEW.network_id, replace(TG_ARGV[0], '_id', 's'), changed, NEW.display_name;
        END IF;
        RETURN NULL;
    END IF;
    IF NOT OLD.deleted THEN
        FOR tail IN SELECT name_tails(OLD.display_name) LOOP
            DELETE FROM name_words
            WHERE network_id = OLD.network_id AND list = TG_TABLE_NAME AND key = left(tail, 100) AND id = changed;
        END LOOP;
    END IF;
    IF TG_OP = 'UPDATE' AND NOT NEW.deleted THEN
        INSERT INTO name_words (network_id, list, key, id)
        SELECT NEW.network_id, TG_TABLE_NAME, left(word, 100), changed FROM name_tails(NEW.display_name) AS word
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

-- What a replica of a former release writes has no number.
CREATE OR REPLACE FUNCTION number_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS NULL AND TG_TABLE_NAME = 'changes' THEN
        INSERT INTO change_counters AS c (network_id, slot, seq, changed_at) VALUES (NEW.network_id, 0, 1, now())
        ON CONFLICT (network_id, slot) DO UPDATE SET seq = c.seq + 1, changed_at = EXCLUDED.changed_at
        RETURNING c.seq INTO NEW.seq;
    ELSIF NEW.seq IS NULL THEN
        EXECUTE format(
            'INSERT INTO %I.%I AS c (network_id, slot, seq, changed_at) VALUES ($1, 0, 1, now())
             ON CONFLICT (network_id, slot) DO UPDATE SET seq = c.seq + 1, changed_at = EXCLUDED.changed_at
             RETURNING c.seq',
            TG_TABLE_SCHEMA,
            (SELECT 'change_counters_' || shardid FROM pg_catalog.pg_dist_shard
             WHERE logicalrelid = to_regclass(format('%I.change_counters', TG_TABLE_SCHEMA))))
        INTO NEW.seq USING NEW.network_id;
    END IF;
    IF NEW.xid IS NULL THEN NEW.xid := pg_current_xact_id(); END IF;
    RETURN NEW;
END
$$;

-- How many bytes a table of ours has where its rows are, with all that belongs to it or by itself; `beside` is the table of the row of
-- placements_self there.
CREATE FUNCTION bytes_of(beside oid, name text, wholly boolean) RETURNS bigint LANGUAGE plpgsql STABLE AS $$
DECLARE
    neighbour text := beside::regclass;
    place     text := regexp_replace(neighbour, 'placements_self(_[0-9]+)?$', '');
    meant     text := place || name;
BEGIN
    IF neighbour ~ '_[0-9]+$' THEN
        SELECT meant || '_' || shardid INTO meant FROM pg_catalog.pg_dist_shard WHERE logicalrelid = meant::regclass;
    END IF;
    RETURN CASE WHEN wholly THEN pg_table_size(meant::regclass) ELSE pg_relation_size(meant::regclass) END;
END
$$;

-- deleted_in is compared with the transactions of the server that the row is on, so it is one of that server's.
CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    NEW.deleted_in := pg_current_xact_id();
    RETURN NEW;
END
$$;
CREATE TRIGGER former_networks_noted BEFORE INSERT ON former_networks FOR EACH ROW EXECUTE FUNCTION note_deletion();

-- Whether a transaction goes on that began before this one ended, on the server that this is asked on.
CREATE FUNCTION began_before(ended xid8) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM pg_stat_activity a
                   WHERE a.datname = current_database() AND age(a.backend_xid) >= age(ended::xid));
END
$$;
