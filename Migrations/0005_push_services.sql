-- What push services know networks by, sealed with the master key. identity is what people are shown of it.
CREATE TABLE provider_credentials (
    network_id text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    provider   text        COLLATE "C" NOT NULL,
    app_id     text        COLLATE "C" NOT NULL,   -- empty where a network has one for all
    identity   text        NOT NULL,               -- JSON
    sealed     bytea       NOT NULL,
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, provider, app_id)
);

-- Tokens made from keys, which all replicas share: Apple counts how often new ones are made. They belong to a key, not to
-- a network, and go by its hash, so that nobody finds somebody else's by naming it.
CREATE TABLE provider_tokens (
    key_hash  bytea       PRIMARY KEY,
    sealed    bytea       NOT NULL,
    issued_at timestamptz NOT NULL
);
CREATE INDEX provider_tokens_by_age ON provider_tokens (issued_at);

-- Lanes whose brake an admin has let go: what their provider reports as gone is unregistered, however much it is.
CREATE TABLE released_brakes (
    network_id text        COLLATE "C" NOT NULL,
    provider   text        COLLATE "C" NOT NULL,
    app_id     text        COLLATE "C" NOT NULL,
    until      timestamptz NOT NULL,
    PRIMARY KEY (network_id, provider, app_id)
);

-- Since when a device is in its state: what was unregistered by mistake can be restored by time, and the rest is forgotten.
ALTER TABLE devices ADD COLUMN state_at timestamptz;
UPDATE devices SET state_at = now() WHERE state <> 'active';
CREATE INDEX devices_unregistered ON devices (network_id, provider, app_id, state_at) WHERE state <> 'active';
