-- What it did, and whoever has waited for the row of a network until that was removed, since the network has left, is told that it moves:
-- what they write would be nobody's, and they would take it for written.
CREATE OR REPLACE FUNCTION keep_moving_network() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    gate text;
BEGIN
    IF current_setting('carillon.mover', true) = 'on' THEN RETURN coalesce(NEW, OLD); END IF;
    SELECT n.away INTO gate FROM networks n WHERE n.network_id = TG_ARGV[0] FOR SHARE;
    IF NOT FOUND THEN
        IF TG_TABLE_NAME = 'event_keys' AND TG_OP = 'INSERT' THEN RETURN NULL; END IF;
        -- One of its id that is made here is another network.
        IF TG_TABLE_NAME <> 'networks' AND EXISTS (SELECT FROM departed_networks d WHERE d.network_id = TG_ARGV[0]) THEN
            gate := 'gone';
        END IF;
    END IF;
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
