-- Changes of a network are numbered in the order in which they become visible: its counter stays locked until whoever counted has
-- committed. So whoever has read a number knows all up to it, whichever server or clock it was. A counter outlives its network: one that is
-- made anew goes on behind what replicas remember. `slot` is 0, for as long as one counter for each network is enough.
CREATE TABLE change_counters (
    network_id text        COLLATE "C" NOT NULL,
    slot       integer     NOT NULL,
    seq        bigint      NOT NULL,
    changed_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, slot)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);

-- What a replica of a former release writes has no number, and it finds by its transaction what others write.
CREATE FUNCTION number_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.seq IS NULL THEN
        INSERT INTO change_counters AS c (network_id, slot, seq, changed_at) VALUES (NEW.network_id, 0, 1, now())
        ON CONFLICT (network_id, slot) DO UPDATE SET seq = c.seq + 1, changed_at = EXCLUDED.changed_at
        RETURNING c.seq INTO NEW.seq;
    END IF;
    IF NEW.xid IS NULL THEN NEW.xid := pg_current_xact_id(); END IF;
    RETURN NEW;
END
$$;

-- place: of those that share a number.
ALTER TABLE changes
    ADD COLUMN slot  integer NOT NULL DEFAULT 0,
    ADD COLUMN seq   bigint,
    ADD COLUMN place integer NOT NULL DEFAULT 0,
    ALTER COLUMN xid DROP DEFAULT;
CREATE TRIGGER changes_numbered BEFORE INSERT ON changes FOR EACH ROW EXECUTE FUNCTION number_change();
