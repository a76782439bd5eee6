-- The words of names but the first, each with what follows it, as they are looked for: whoever looks for the beginning of one walks
-- along them, as along ids and names.
CREATE TABLE name_words (
    network_id text COLLATE "C" NOT NULL,
    list       text COLLATE "C" NOT NULL,             -- users, or channels
    key        text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL,
    PRIMARY KEY (network_id, list, key, id)
);
ALTER TABLE name_words SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);

-- A name from each of its words on, but the first; of thirty-two at most. Between words is white space, or punctuation.
CREATE FUNCTION name_tails(name text) RETURNS SETOF text LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 2
BEGIN ATOMIC
    SELECT substr(whole, regexp_instr(whole, begin, 1, nth) + 1) COLLATE "C"
    FROM folded(name) AS whole,
        (VALUES ('[\u0001-/:-@\[-`{-\u00a1\u00ab\u00b7\u00bb\u00bf\u1680\u2000-\u206f\u3000-\u303f\uff01-\uff0f]'
                 '[^\u0001-/:-@\[-`{-\u00a1\u00ab\u00b7\u00bb\u00bf\u1680\u2000-\u206f\u3000-\u303f\uff01-\uff0f]')) AS word (begin),
        generate_series(1, least(coalesce(regexp_count(whole, begin), 0), 32)) AS nth;
END;

CREATE FUNCTION add_name_words() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_TABLE_NAME = 'users' THEN
        INSERT INTO name_words (network_id, list, key, id)
        SELECT network_id, 'users', left(tail, 100), user_id FROM added, name_tails(display_name) AS tail WHERE NOT deleted
        ON CONFLICT DO NOTHING;
    ELSE
        INSERT INTO name_words (network_id, list, key, id)
        SELECT network_id, 'channels', left(tail, 100), channel_id FROM added, name_tails(display_name) AS tail WHERE NOT deleted
        ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END
$$;

-- The argument is the column of the id. One word at a time, by its whole key, whatever the planner thinks of the table.
CREATE FUNCTION change_name_words() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    changed text := to_jsonb(OLD) ->> TG_ARGV[0];
    tail    text;
BEGIN
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

CREATE TRIGGER users_added AFTER INSERT ON users REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_name_words();
CREATE TRIGGER users_named AFTER UPDATE OF display_name, deleted ON users FOR EACH ROW
    WHEN (OLD.display_name IS DISTINCT FROM NEW.display_name OR OLD.deleted <> NEW.deleted)
    EXECUTE FUNCTION change_name_words('user_id');
CREATE TRIGGER users_gone AFTER DELETE ON users FOR EACH ROW
    WHEN (NOT OLD.deleted AND OLD.display_name IS NOT NULL) EXECUTE FUNCTION change_name_words('user_id');

-- Those of the names that were there before. A name that changes meanwhile waits for its part, or is read as it is then.
CREATE TABLE name_words_filled (
    list       text COLLATE "C" PRIMARY KEY,
    network_id text COLLATE "C" NOT NULL,
    id         text COLLATE "C" NOT NULL
);
INSERT INTO name_words_filled VALUES ('users', '', ''), ('channels', '', '');

-- in steps
WITH part AS (
    SELECT named.* FROM name_words_filled f CROSS JOIN LATERAL (
        SELECT n.network_id, n.user_id AS id, CASE WHEN NOT n.deleted THEN n.display_name END AS name FROM users n
        WHERE (n.network_id, n.user_id) > (f.network_id, f.id)
        ORDER BY n.network_id, n.user_id LIMIT 2000 FOR SHARE
    ) AS named
    WHERE f.list = 'users'
), added AS (
    INSERT INTO name_words (network_id, list, key, id)
    SELECT network_id, 'users', left(tail, 100), id FROM part, name_tails(name) AS tail
    ON CONFLICT DO NOTHING
)
UPDATE name_words_filled f SET network_id = p.network_id, id = p.id
FROM (SELECT network_id, id FROM part ORDER BY network_id DESC, id DESC LIMIT 1) AS p
WHERE f.list = 'users';

CREATE TRIGGER channels_added AFTER INSERT ON channels REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION add_name_words();
CREATE TRIGGER channels_named AFTER UPDATE OF display_name, deleted ON channels FOR EACH ROW
    WHEN (OLD.display_name IS DISTINCT FROM NEW.display_name OR OLD.deleted <> NEW.deleted)
    EXECUTE FUNCTION change_name_words('channel_id');
CREATE TRIGGER channels_gone AFTER DELETE ON channels FOR EACH ROW
    WHEN (NOT OLD.deleted AND OLD.display_name IS NOT NULL) EXECUTE FUNCTION change_name_words('channel_id');

-- in steps
WITH part AS (
    SELECT named.* FROM name_words_filled f CROSS JOIN LATERAL (
        SELECT n.network_id, n.channel_id AS id, CASE WHEN NOT n.deleted THEN n.display_name END AS name FROM channels n
        WHERE (n.network_id, n.channel_id) > (f.network_id, f.id)
        ORDER BY n.network_id, n.channel_id LIMIT 2000 FOR SHARE
    ) AS named
    WHERE f.list = 'channels'
), added AS (
    INSERT INTO name_words (network_id, list, key, id)
    SELECT network_id, 'channels', left(tail, 100), id FROM part, name_tails(name) AS tail
    ON CONFLICT DO NOTHING
)
UPDATE name_words_filled f SET network_id = p.network_id, id = p.id
FROM (SELECT network_id, id FROM part ORDER BY network_id DESC, id DESC LIMIT 1) AS p
WHERE f.list = 'channels';

DROP TABLE name_words_filled;
