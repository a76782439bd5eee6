-- Named audiences. Marks (0012) order subscriptions and what ends them: one whose mark is not greater counts for nothing, and is
-- swept later.

CREATE TABLE tags (
    network_id   text        COLLATE "C" NOT NULL,
    tag          text        COLLATE "C" NOT NULL,
    description  text,
    self_service boolean     NOT NULL DEFAULT false,
    created_at   timestamptz NOT NULL,
    updated_at   timestamptz NOT NULL,
    declared     boolean     NOT NULL DEFAULT true,    -- false: all there is to know is that it was removed
    wiped_at     uuid,                                 -- the mark of the latest removal
    unswept      boolean     NOT NULL DEFAULT false,
    PRIMARY KEY (network_id, tag)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX tags_unswept ON tags (network_id, tag) WHERE unswept;

CREATE TABLE subscriptions (
    network_id text    COLLATE "C" NOT NULL,
    tag        text    COLLATE "C" NOT NULL,           -- declared or not
    kind       text    COLLATE "C" NOT NULL CHECK (kind IN ('device', 'user')),
    subject_id text    COLLATE "C" NOT NULL,
    since      uuid    NOT NULL DEFAULT next_mark(),   -- what was accepted before does not concern it
    user_wipes integer NOT NULL DEFAULT 0,             -- of a user: how often they had been removed when they subscribed
    PRIMARY KEY (network_id, tag, kind, subject_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
CREATE INDEX subscriptions_by_subject ON subscriptions (network_id, kind, subject_id, tag);

-- The mark of a device's registration for its user: what it subscribed to before is over. Null for devices of before, which had
-- nothing to subscribe to.
ALTER TABLE devices ADD COLUMN owned_since uuid;
ALTER TABLE devices ALTER COLUMN owned_since SET DEFAULT next_mark();

-- 0010 took this table away, and replicas of the former version cannot make or remove networks without it. Nobody reads it.
CREATE TABLE released_brakes (
    network_id text        COLLATE "C" NOT NULL,
    provider   text        COLLATE "C" NOT NULL,
    app_id     text        COLLATE "C" NOT NULL,
    until      timestamptz NOT NULL,
    PRIMARY KEY (network_id, provider, app_id)
);
