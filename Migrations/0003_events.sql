-- Accepted events. The inbox holds only what is not expanded yet; it is the insurance for what replicas hold in memory.

CREATE TABLE inbox (
    network_id         text        COLLATE "C" NOT NULL,
    event_id           uuid        NOT NULL,
    source_id          text        COLLATE "C" NOT NULL,
    event_type         text        NOT NULL,
    received_at        timestamptz NOT NULL,
    occurred_at        timestamptz NOT NULL,
    body               text        NOT NULL,      -- JSON as it was posted; text, because nothing looks inside
    run_at             timestamptz NOT NULL,      -- when it may be claimed: the end of the lease while it is leased
    leased             boolean     NOT NULL,
    lease_token        bigint      NOT NULL DEFAULT 1,
    rescues            integer     NOT NULL DEFAULT 0,
    cursor             text        COLLATE "C",   -- the last user of the last committed page of recipients
    resolved           integer     NOT NULL DEFAULT 0,
    notified           integer     NOT NULL DEFAULT 0,
    suppressed_network integer     NOT NULL DEFAULT 0,
    suppressed_user    integer     NOT NULL DEFAULT 0,
    suppressed_channel integer     NOT NULL DEFAULT 0,
    no_device          integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, event_id)
) WITH (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX inbox_ready ON inbox (network_id, run_at);

-- Source ids of the last seven days. Not partitioned: a unique key could not reach across partitions.
CREATE TABLE event_keys (
    network_id  text        COLLATE "C" NOT NULL,
    source_id   text        COLLATE "C" NOT NULL,
    event_id    uuid        NOT NULL,
    received_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, source_id)
);
CREATE INDEX event_keys_by_age ON event_keys (received_at);

-- Expanded events. UUIDv7 ids start with the time, so that a range of ids is a day: one partition each, dropped by age.
CREATE TABLE events (
    network_id         text        COLLATE "C" NOT NULL,
    event_id           uuid        NOT NULL,
    source_id          text        COLLATE "C" NOT NULL,
    event_type         text        NOT NULL,
    received_at        timestamptz NOT NULL,
    failure            text,                      -- why it could not be expanded
    resolved           integer     NOT NULL DEFAULT 0,
    notified           integer     NOT NULL DEFAULT 0,
    suppressed_network integer     NOT NULL DEFAULT 0,
    suppressed_user    integer     NOT NULL DEFAULT 0,
    suppressed_channel integer     NOT NULL DEFAULT 0,
    no_device          integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, event_id)
) PARTITION BY RANGE (event_id);
CREATE TABLE events_default PARTITION OF events DEFAULT;
