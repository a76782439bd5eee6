-- What endpoints are told: one copy of each body for all endpoints and for replays, and what became of each message.

CREATE TABLE relayed (
    network_id  text        COLLATE "C" NOT NULL,
    event_id    uuid        NOT NULL,
    event_type  text        COLLATE "C" NOT NULL,
    received_at timestamptz NOT NULL,
    body        text        NOT NULL,                  -- JSON as it was posted
    PRIMARY KEY (network_id, event_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE relayed_default PARTITION OF relayed DEFAULT;

-- A message has a row when it was tried; until then it is only a row of deliveries, whose lane is the endpoint.
CREATE TABLE relays (
    network_id  text        COLLATE "C" NOT NULL,
    endpoint_id text        COLLATE "C" NOT NULL,
    event_id    uuid        NOT NULL,
    event_type  text        COLLATE "C" NOT NULL,
    state       text        COLLATE "C" NOT NULL,      -- pending, delivered, failed
    attempts    integer     NOT NULL,
    answer      text        NOT NULL,
    at          timestamptz NOT NULL,
    PRIMARY KEY (network_id, endpoint_id, event_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE relays_default PARTITION OF relays DEFAULT;
CREATE INDEX relays_open ON relays (network_id, endpoint_id, event_id) WHERE state <> 'delivered';

-- What endpoints are told once more, while that goes on.
CREATE TABLE replays (
    network_id  text    COLLATE "C" NOT NULL,
    endpoint_id text    COLLATE "C" NOT NULL,
    after_id    uuid    NOT NULL,                      -- the last event that was queued
    until_id    uuid    NOT NULL,
    types       text[]  NOT NULL,
    only_failed boolean NOT NULL,
    PRIMARY KEY (network_id, endpoint_id)
);

CREATE INDEX deliveries_of_relay ON deliveries (network_id, app_id, event_id) WHERE provider = 'relay';

ALTER TABLE relayed_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE relays_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
-- A row is written once a second while its endpoint is told of something.
ALTER TABLE endpoints SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
