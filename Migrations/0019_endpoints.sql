-- Servers of networks that are told what happens, or asked about it.
CREATE SEQUENCE endpoint_revisions;
CREATE TABLE endpoints (
    network_id      text        COLLATE "C" NOT NULL REFERENCES networks ON DELETE CASCADE,
    endpoint_id     text        COLLATE "C" NOT NULL,
    mode            text        NOT NULL CHECK (mode IN ('observe', 'intercept')),
    url             text        NOT NULL,
    events          text        NOT NULL,              -- JSON: the patterns of types
    settings        text        NOT NULL,              -- JSON: what else its admins chose
    sealed          bytea       NOT NULL,              -- current and former secrets with their ends
    state           text        NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'disabled')),
    state_reason    text,
    state_at        timestamptz NOT NULL,
    created_at      timestamptz NOT NULL,
    failing_since   timestamptz,                       -- nothing has gone through since
    last_success_at timestamptz,
    last_error      text,
    revision        bigint      NOT NULL DEFAULT nextval('endpoint_revisions'),   -- another one with each change of what is remembered
    PRIMARY KEY (network_id, endpoint_id)
);
