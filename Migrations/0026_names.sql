-- Users and channels are read while this takes its time, not written: nobody who has written to the one waits for the other.
LOCK TABLE users, channels IN SHARE MODE;

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
CREATE INDEX users_removed ON users (coalesce(wiped_at, 'epoch')) WHERE deleted;
CREATE INDEX channels_removed ON channels (coalesce(wiped_at, 'epoch')) WHERE deleted;
