-- What happened in each network, counted: a row for each minute in which something did and each replica that counted it, with the
-- figures in JSON. A row is written once. Hours are added up from these, each row once.
CREATE TABLE statistics_minutes (
    network_id text        COLLATE "C" NOT NULL,
    at         timestamptz NOT NULL,
    replica    uuid        NOT NULL,
    number     bigint      NOT NULL,                  -- the replica's rows, in their order
    figures    text        NOT NULL,
    rolled     boolean     NOT NULL DEFAULT false,    -- whether it is in the hour
    PRIMARY KEY (network_id, at, replica, number)
) WITH (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX statistics_minutes_unrolled ON statistics_minutes (network_id, at) WHERE NOT rolled;
CREATE INDEX statistics_minutes_by_age ON statistics_minutes (at) WHERE rolled;

CREATE TABLE statistics_hours (
    network_id text        COLLATE "C" NOT NULL,
    at         timestamptz NOT NULL,
    figures    text        NOT NULL,
    PRIMARY KEY (network_id, at)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX statistics_hours_by_age ON statistics_hours (at);

-- Whose devices they were that were stopped: the names of their providers, with spaces between them.
ALTER TABLE stopped_users ADD COLUMN providers text NOT NULL DEFAULT '';
