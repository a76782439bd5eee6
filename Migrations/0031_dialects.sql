-- What networks say of other chat backends' webhooks: whether they are taken, what proves them, and how they are read.
CREATE TABLE dialects (
    network_id text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    dialect    text        COLLATE "C" NOT NULL,
    enabled    boolean     NOT NULL,
    settings   text        NOT NULL,              -- JSON: how bodies are read
    sealed     bytea       NOT NULL,              -- JSON: secrets, user and password, with when they were set
    updated_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, dialect)
);
