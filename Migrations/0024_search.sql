-- Where and by whom an event was caused, for those who look for events; null for those of before, and where it is nowhere.
ALTER TABLE inbox
    ADD COLUMN channel_id text COLLATE "C",
    ADD COLUMN actor_id   text COLLATE "C";
ALTER TABLE events
    ADD COLUMN channel_id text COLLATE "C",
    ADD COLUMN actor_id   text COLLATE "C";

-- A text as it is looked for, whatever the case: Σ has two small forms. Without ICU only letters that the database's locale knows
-- have a case.
DO $$
BEGIN
    EXECUTE format(
        'CREATE FUNCTION folded(value text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
         RETURN replace(lower(value %s), ''ς'', ''σ'') COLLATE "C"',
        CASE WHEN EXISTS (SELECT FROM pg_collation
                          WHERE collname = 'und-x-icu' AND collnamespace = 'pg_catalog'::regnamespace
                              AND collencoding IN (-1, pg_char_to_encoding(getdatabaseencoding())))
             THEN 'COLLATE "und-x-icu"' ELSE '' END);
END
$$;

CREATE INDEX users_by_folded_id ON users (network_id, (folded(user_id)), user_id) WHERE NOT deleted;
CREATE INDEX users_by_folded_name ON users (network_id, (left(folded(display_name), 100) COLLATE "C"), user_id)
    WHERE NOT deleted AND display_name IS NOT NULL;
CREATE INDEX channels_by_folded_id ON channels (network_id, (folded(channel_id)), channel_id) WHERE NOT deleted;
CREATE INDEX channels_by_folded_name ON channels (network_id, (left(folded(display_name), 100) COLLATE "C"), channel_id)
    WHERE NOT deleted AND display_name IS NOT NULL;

-- A message of somebody known moves facts_at, and nothing else. While no index has it, that touches no index at all; a tombstone's
-- age is told by its removal as well.
DROP INDEX users_tombstones;
CREATE INDEX users_tombstones ON users (coalesce(wiped_at, 'epoch')) WHERE deleted;
DROP INDEX channels_tombstones;
CREATE INDEX channels_tombstones ON channels (coalesce(wiped_at, 'epoch')) WHERE deleted;
