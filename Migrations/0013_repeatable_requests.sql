-- What was answered to requests that create, for those who ask again because the answer was lost. The answers hold secrets:
-- sealed with the master key. Those of POST /v1/networks are under the empty id.
CREATE TABLE idempotency_keys (
    network_id text        COLLATE "C" NOT NULL,
    key_hash   bytea       NOT NULL,                -- of key, caller and path
    body_hash  bytea       NOT NULL,
    sealed     bytea       NOT NULL,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, key_hash)
);
CREATE INDEX idempotency_keys_by_age ON idempotency_keys (created_at);

-- How long user tokens may live, in seconds; null stands for the default of the release that runs.
ALTER TABLE networks ADD COLUMN user_token_max_lifetime bigint;
