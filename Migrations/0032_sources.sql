-- Servers of networks that are asked for events and notifications; leased like inbox rows while they are asked.
CREATE TABLE sources (
    network_id       text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    source_id        text        COLLATE "C" NOT NULL,
    url              text        NOT NULL,
    interval_seconds integer     NOT NULL,
    enabled          boolean     NOT NULL,
    sealed           bytea       NOT NULL,                     -- the secret that its requests are signed with
    cursor           text,                                     -- how far it has been read, in its own words
    run_at           timestamptz NOT NULL DEFAULT now(),
    leased           boolean     NOT NULL DEFAULT false,
    lease_token      bigint      NOT NULL DEFAULT 1,
    failures         integer     NOT NULL DEFAULT 0,           -- in a row
    skipped          bigint      NOT NULL DEFAULT 0,           -- items that were no events and no notifications
    last_poll_at     timestamptz,
    last_error       text,
    created_at       timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (network_id, source_id)
);
CREATE INDEX sources_by_time ON sources (run_at) WHERE enabled;
