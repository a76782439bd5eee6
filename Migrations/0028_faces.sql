-- What networks are called by other systems' clients, and the secrets that those clients hold.

-- Which network a foreign name belongs to. Not led by network_id, because it is what finds the network: a small reference table.
CREATE TABLE faces (
    face        text        COLLATE "C" NOT NULL,
    external_id text        COLLATE "C" NOT NULL,
    scope       text        COLLATE "C" NOT NULL,      -- empty: anybody can name it; else the network whose callers alone can
    network_id  text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    settings    text        NOT NULL,                  -- JSON as the face has checked it
    updated_at  timestamptz NOT NULL,
    PRIMARY KEY (face, external_id, scope),
    CHECK (scope IN ('', network_id))
);
CREATE UNIQUE INDEX faces_by_network ON faces (network_id, face, external_id);

CREATE TABLE face_keys (
    network_id text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    face       text        COLLATE "C" NOT NULL,
    key_name   text        COLLATE "C" NOT NULL,
    hash       bytea,                                  -- where it is enough to recognise the secret,
    sealed     bytea,                                  -- and where it must verify what was signed with it
    rights     text        NOT NULL,                   -- JSON as the face has checked it
    label      text,
    created_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, face, key_name),
    CHECK ((hash IS NULL) <> (sealed IS NULL))
);
CREATE UNIQUE INDEX face_keys_by_hash ON face_keys (face, hash) WHERE hash IS NOT NULL;
CREATE UNIQUE INDEX face_keys_by_name ON face_keys (face, key_name) WHERE sealed IS NOT NULL;

-- How often either of the two was changed: whoever remembers them asks for one row instead of all.
CREATE TABLE face_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    changes bigint  NOT NULL
) WITH (fillfactor = 50);
INSERT INTO face_changes (changes) VALUES (1);

-- What may be used once, and was.
CREATE TABLE used_nonces (
    network_id text        COLLATE "C" NOT NULL,
    nonce_hash bytea       NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (network_id, nonce_hash)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX used_nonces_by_age ON used_nonces (expires_at);
