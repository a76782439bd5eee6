-- A network may move to another placement. The row of a network says whether it is in this one:
-- draining: it is about to leave; nothing new is accepted or begun.
-- out:      it is about to leave; nothing of it changes here any more.
-- gone:     it has left; what is here of it is going to be removed.
-- in:       it is arriving, and not here yet.
ALTER TABLE networks ADD COLUMN away text CHECK (away IN ('draining', 'out', 'gone', 'in'));
CREATE INDEX networks_away ON networks (network_id) WHERE away IS NOT NULL;

-- Keeps a network that moves from whoever writes in it, but for the mover. Triggers that call it are made for that network, and for that
-- long. Whoever writes holds the row of the network, so that the mover, who changes that, waits for all who are at it.
--
-- What works through all networks meets nothing of this one: one network must not fail the work of the others. Whoever wants something of
-- this one is told that it moves (move_fence).
CREATE FUNCTION keep_moving_network() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gate text;
BEGIN
    IF current_setting('carillon.mover', true) = 'on' THEN RETURN coalesce(NEW, OLD); END IF;
    SELECT n.away INTO gate FROM networks n WHERE n.network_id = TG_ARGV[0] FOR SHARE;
    IF gate IS NULL THEN RETURN coalesce(NEW, OLD); END IF;
    IF gate = 'draining' THEN
        IF TG_TABLE_NAME IN ('inbox', 'deliveries') AND TG_OP = 'UPDATE' THEN
            IF TG_TABLE_NAME = 'inbox' THEN
                -- A page of recipients is through: the next is for whoever has the network then.
                IF NEW.leased AND OLD.leased AND NEW.cursor IS DISTINCT FROM OLD.cursor THEN
                    NEW.leased := false;
                    NEW.run_at := now();
                    RETURN NEW;
                END IF;
            END IF;
            -- What is held is finished; it is not held for longer, nor is anything else taken.
            IF NEW.leased AND (NOT OLD.leased OR NEW.run_at > OLD.run_at) THEN RETURN NULL; END IF;
            RETURN NEW;
        END IF;
        IF NOT (TG_TABLE_NAME = 'inbox' AND TG_OP = 'INSERT' OR TG_TABLE_NAME = 'networks' AND TG_OP = 'DELETE') THEN
            RETURN coalesce(NEW, OLD);
        END IF;
    ELSIF current_setting('carillon.sweep', true) = 'on'
        OR TG_TABLE_NAME IN ('lanes', 'lane_reports', 'released_brakes', 'statistics_minutes', 'statistics_hours', 'journal')
        OR TG_TABLE_NAME IN ('inbox', 'deliveries', 'replays') AND TG_OP <> 'INSERT' THEN
        RETURN NULL;
    ELSIF TG_TABLE_NAME = 'sources' AND TG_OP = 'UPDATE' THEN
        IF NEW.leased THEN RETURN NULL; END IF;
    END IF;
    RAISE EXCEPTION 'the network is moving to another placement' USING ERRCODE = '55P03', CONSTRAINT = 'move_fence';
END
$$;

-- The moves of networks, at home; of each network those that are not over, and the last one.
-- remains:    the placement in which something is left that is to be removed, at remove_at.
-- holder:     who works on it, until held_until at the latest.
CREATE TABLE network_moves (
    move_id       uuid        PRIMARY KEY,
    network_id    text        COLLATE "C" NOT NULL,
    source        text        COLLATE "C" NOT NULL,
    target        text        COLLATE "C" NOT NULL,
    step          text        NOT NULL
        CHECK (step IN ('draining', 'fenced', 'copying', 'switching', 'purging', 'done', 'cancelled')),
    is_cancelled  boolean     NOT NULL DEFAULT false,
    reason        text,
    row_count     bigint      NOT NULL DEFAULT 0,
    byte_count    bigint      NOT NULL DEFAULT 0,
    started_at    timestamptz NOT NULL,
    frozen_at     timestamptz,
    thawed_at     timestamptz,
    remains       text        COLLATE "C",
    remove_at     timestamptz,
    holder        uuid,
    held_until    timestamptz
);
CREATE INDEX network_moves_by_network ON network_moves (network_id, started_at);
CREATE UNIQUE INDEX network_moves_at_once ON network_moves (network_id)
    WHERE step IN ('draining', 'fenced', 'copying', 'switching');
