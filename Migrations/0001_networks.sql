-- Tenants and who may call for them. Every key starts with network_id, so that networks can be spread over servers.
-- Ids are compared by their bytes (COLLATE "C"), as the program does, whatever the locale of the database.

CREATE TABLE networks (
    network_id         text        COLLATE "C" PRIMARY KEY,
    display_name       text,
    default_locale     text,
    toggles            text,                     -- JSON as in API section 5; null means that everything is allowed
    toggles_updated_at timestamptz,
    toggles_version    bigint      NOT NULL DEFAULT 0,
    created_at         timestamptz NOT NULL
);

CREATE TABLE api_keys (
    network_id  text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    key_id      text        COLLATE "C" NOT NULL,
    role        text        NOT NULL,
    label       text,
    secret_hash bytea       NOT NULL,
    created_at  timestamptz NOT NULL,
    PRIMARY KEY (network_id, key_id)
);

-- Secrets of Standard Webhooks, sealed with the master key: those that verify incoming events and those that sign
-- outgoing notifications.
CREATE TABLE webhook_secrets (
    network_id text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    secret_id  uuid        NOT NULL,
    direction  text        NOT NULL CHECK (direction IN ('incoming', 'outgoing')),
    sealed     bytea       NOT NULL,
    expires_at timestamptz,
    PRIMARY KEY (network_id, secret_id)
);

-- An HS256 secret is sealed with the master key; a public key is stored as PEM in the same column.
CREATE TABLE user_token_keys (
    network_id text  COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    key_id     uuid  NOT NULL,
    algorithm  text  NOT NULL CHECK (algorithm IN ('HS256', 'ES256', 'RS256')),
    material   bytea NOT NULL,
    PRIMARY KEY (network_id, key_id)
);

CREATE TABLE templates (
    network_id text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    event_type text        COLLATE "C" NOT NULL,
    locale     text        COLLATE "C" NOT NULL,
    source     text        NOT NULL,             -- JSON as in API section 7
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, event_type, locale)
);
