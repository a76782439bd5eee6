-- What chat backends and apps tell about people, channels and devices. facts_at is the time of the newest statement
-- about a row: an older one does not overwrite it, and a mere mention of an id states nothing. Rows of what is gone stay
-- for a while as tombstones, for the same reason.

CREATE TABLE users (
    network_id         text        COLLATE "C" NOT NULL,
    user_id            text        COLLATE "C" NOT NULL,
    display_name       text,
    locale             text,
    roles              text,                      -- a JSON array
    facts_at           timestamptz NOT NULL,
    deleted            boolean     NOT NULL DEFAULT false,
    toggles            text,
    toggles_updated_at timestamptz,
    toggles_version    bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, user_id)
) WITH (fillfactor = 85);
CREATE INDEX users_tombstones ON users (facts_at) WHERE deleted;
CREATE INDEX users_with_toggles ON users (network_id, user_id) WHERE toggles IS NOT NULL;

CREATE TABLE channels (
    network_id   text        COLLATE "C" NOT NULL,
    channel_id   text        COLLATE "C" NOT NULL,
    display_name text,
    facts_at     timestamptz NOT NULL,
    deleted      boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (network_id, channel_id)
) WITH (fillfactor = 70);
CREATE INDEX channels_tombstones ON channels (facts_at) WHERE deleted;

-- A user's relation to a channel: membership and channel toggles. Toggles may be set before somebody joins and outlive
-- their leaving.
CREATE TABLE members (
    network_id         text        COLLATE "C" NOT NULL,
    channel_id         text        COLLATE "C" NOT NULL,
    user_id            text        COLLATE "C" NOT NULL,
    is_member          boolean     NOT NULL,
    since_event        uuid        NOT NULL,      -- UUIDv7 of what made them a member: an earlier event does not concern them
    facts_at           timestamptz NOT NULL,
    toggles            text,
    toggles_updated_at timestamptz,
    toggles_version    bigint      NOT NULL DEFAULT 0,
    PRIMARY KEY (network_id, channel_id, user_id)
);
CREATE INDEX members_by_user ON members (network_id, user_id);
CREATE INDEX members_with_toggles ON members (network_id, channel_id, user_id) WHERE toggles IS NOT NULL;
CREATE INDEX members_tombstones ON members (facts_at) WHERE NOT is_member AND toggles IS NULL;

CREATE TABLE devices (
    network_id    text        COLLATE "C" NOT NULL,
    device_id     text        COLLATE "C" NOT NULL,
    user_id       text        COLLATE "C" NOT NULL,
    provider      text        COLLATE "C" NOT NULL,
    app_id        text        COLLATE "C" NOT NULL,
    address       text        NOT NULL,           -- the token, the subscription's endpoint or the URL; empty for log
    environment   text,                           -- APNs only
    p256dh        text,                           -- Web Push only
    auth          text,                           -- Web Push only
    address_hash  bytea,                          -- SHA-256 of what makes the address unique; null where it is not
    locale        text,
    state         text        NOT NULL DEFAULT 'active',
    error         text,
    registered_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, device_id)
);
CREATE UNIQUE INDEX devices_by_address ON devices (network_id, address_hash) WHERE address_hash IS NOT NULL;
CREATE INDEX devices_by_user ON devices (network_id, user_id);

-- What was switched off, unregistered or deleted lately and by which transaction: a delivery in memory asks here, just
-- before it is sent, what its reading of the toggles did not see. A null user_id means everybody. Kept for minutes.
CREATE TABLE changes (
    network_id text        COLLATE "C" NOT NULL,
    xid        xid8        NOT NULL DEFAULT pg_current_xact_id(),
    user_id    text        COLLATE "C",
    changed_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX changes_by_xid ON changes (network_id, xid);
