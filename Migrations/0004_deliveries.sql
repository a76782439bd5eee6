-- Live deliveries only: a row is one rendered notification for up to 500 devices of one lane, and shrinks as they are
-- settled. The outcome log keeps what became of them.

CREATE TABLE deliveries (
    network_id  text        COLLATE "C" NOT NULL,
    group_id    uuid        NOT NULL,
    event_id    uuid        NOT NULL,
    provider    text        COLLATE "C" NOT NULL,
    app_id      text        COLLATE "C" NOT NULL,
    cause       text        NOT NULL,             -- JSON: what payloads and toggles need of the event
    locale      text        NOT NULL,
    title       text        NOT NULL,
    body        text        NOT NULL,
    targets     text        NOT NULL,             -- JSON: [[device, user], …]
    size        integer     NOT NULL,             -- how many targets
    attempt     integer     NOT NULL,
    run_at      timestamptz NOT NULL,             -- when it may be claimed: the end of the lease while it is leased
    expires_at  timestamptz NOT NULL,
    leased      boolean     NOT NULL,
    lease_token bigint      NOT NULL DEFAULT 1,
    rescues     integer     NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, group_id)
) WITH (fillfactor = 70, autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, autovacuum_vacuum_cost_delay = 0);
CREATE INDEX deliveries_ready ON deliveries (network_id, provider, app_id, run_at);
CREATE INDEX deliveries_by_event ON deliveries (network_id, event_id);
CREATE INDEX deliveries_by_expiry ON deliveries (expires_at);

-- Append-only. The partitions are those of events: an event and its outcomes are dropped together.
CREATE TABLE outcomes (
    network_id   text        COLLATE "C" NOT NULL,
    event_id     uuid        NOT NULL,
    provider     text        COLLATE "C" NOT NULL,
    at           timestamptz NOT NULL,
    delivered    integer     NOT NULL,
    unregistered integer     NOT NULL,
    expired      integer     NOT NULL,
    dead         integer     NOT NULL,            -- negative where a dead letter was revived
    suppressed   integer     NOT NULL,
    records      text        NOT NULL             -- JSON: [[device, user, state, attempts, reason, provider's id], …]
) PARTITION BY RANGE (event_id);
CREATE INDEX outcomes_by_event ON outcomes (network_id, event_id);
CREATE TABLE outcomes_default PARTITION OF outcomes DEFAULT;

CREATE TABLE dead_letters (
    network_id text        COLLATE "C" NOT NULL,
    letter_id  uuid        NOT NULL,
    event_id   uuid        NOT NULL,
    provider   text        COLLATE "C" NOT NULL,
    app_id     text        COLLATE "C" NOT NULL,
    cause      text        NOT NULL,
    locale     text        NOT NULL,
    title      text        NOT NULL,
    body       text        NOT NULL,
    device_id  text        COLLATE "C" NOT NULL,
    user_id    text        COLLATE "C" NOT NULL,
    attempts   integer     NOT NULL,
    reason     text,
    at         timestamptz NOT NULL,
    PRIMARY KEY (network_id, letter_id)
);
CREATE INDEX dead_letters_by_age ON dead_letters (at);
