-- A row of deliveries to an endpoint holds the messages of one commit: targets is [[event, type, milliseconds since 1970], …],
-- event_id the first of the events, and the others' ids were made within half a second of it. One message alone is written as
-- before.

-- Before this no row begins that has a message about the event.
CREATE FUNCTION bundle_floor(event_id uuid) RETURNS uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN event_id IS NOT NULL THEN
        (lpad(to_hex(greatest(0, ('x' || translate(left(event_id::text, 13), '-', ''))::bit(48)::bigint - 500)), 12, '0')
         || repeat('0', 20))::uuid END;

-- Whether a row of deliveries to an endpoint that begins at or before the event has a message about it.
CREATE FUNCTION bundle_has(first_id uuid, targets text, event_id uuid) RETURNS boolean LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN targets LIKE '%""]]' THEN first_id = event_id
                ELSE position('"' || event_id::text || '"' IN targets) > 0 END;

-- The events that a row of deliveries to an endpoint has messages about.
CREATE FUNCTION bundle_events(first_id uuid, targets text) RETURNS SETOF uuid LANGUAGE sql IMMUTABLE PARALLEL SAFE ROWS 50
BEGIN ATOMIC
    SELECT CASE WHEN targets LIKE '%""]]' THEN first_id ELSE (message ->> 0)::uuid END
    FROM jsonb_array_elements(targets::jsonb) AS message;
END;

-- Leaves a row as it is for whoever does not say that they know bundles.
CREATE FUNCTION keep_from_former_releases() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF current_setting('carillon.bundles', true) = 'on' THEN RETURN coalesce(NEW, OLD); END IF;
    RETURN NULL;
END
$$;

-- The sweep of a former release sees that a bundle waits for the body of its first event, and takes the others for what nobody
-- needs any more, so it does not get to delete any.
CREATE TRIGGER relayed_bundles BEFORE DELETE ON relayed FOR EACH ROW EXECUTE FUNCTION keep_from_former_releases();

-- A replica of a former release would take a bundle for one message and forget the others, so it does not get any.
CREATE TRIGGER deliveries_bundles BEFORE UPDATE ON deliveries FOR EACH ROW
    WHEN (NEW.provider = 'relay' AND NEW.lease_token > OLD.lease_token AND NEW.targets NOT LIKE '%""]]')
    EXECUTE FUNCTION keep_from_former_releases();
