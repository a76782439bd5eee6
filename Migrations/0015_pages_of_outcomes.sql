-- What became of an event's devices is read page by page, in the order of this number, and counted without looking at any
-- device. Rows of before have no number; events that have some are answered by reading all of them, until they have aged.
CREATE SEQUENCE outcome_numbers;
ALTER TABLE outcomes
    ADD COLUMN number          bigint,
    ADD COLUMN stopped_network integer,              -- suppressed devices that were the only one of their user in the event;
    ADD COLUMN stopped_user    integer,              -- null where a release wrote the row that did not know
    ADD COLUMN stopped_channel integer,
    ADD COLUMN revived         text COLLATE "C";     -- the device of a dead letter that was revived: what stands before is void
ALTER TABLE outcomes ALTER COLUMN number SET DEFAULT nextval('outcome_numbers');
CREATE INDEX outcomes_in_order ON outcomes (network_id, event_id, number);
DROP INDEX outcomes_by_event;
CREATE INDEX outcomes_revived ON outcomes (network_id, event_id, revived) WHERE revived IS NOT NULL;
CREATE INDEX outcomes_uncounted ON outcomes (network_id, event_id)
    WHERE number IS NULL OR suppressed > 0 AND stopped_user IS NULL OR dead < 0 AND revived IS NULL;

-- Users with several devices in an event, some of which a toggle stopped after the expansion.
CREATE TABLE stopped_users (
    network_id   text    COLLATE "C" NOT NULL,
    event_id     uuid    NOT NULL,
    user_id      text    COLLATE "C" NOT NULL,
    first_device text    COLLATE "C" NOT NULL,        -- the smallest id of those that were stopped
    level        text    COLLATE "C" NOT NULL,        -- what stopped that one
    stopped      integer NOT NULL,
    devices      integer NOT NULL,
    PRIMARY KEY (network_id, event_id, user_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX stopped_users_by_age ON stopped_users (event_id);

ALTER TABLE deliveries ADD COLUMN device_counts text;  -- JSON: [[user, devices in this event], …] where several; null: unknown
ALTER TABLE dead_letters ADD COLUMN devices integer;   -- of its user in this event; null: unknown
DROP INDEX deliveries_by_event;
CREATE INDEX deliveries_by_event ON deliveries (network_id, event_id, group_id);
