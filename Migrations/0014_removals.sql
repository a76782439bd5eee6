-- Removing somebody, or a channel, changes one row, however much hangs on it: what is older than the removal counts for
-- nothing from then on, also when they come back, and is swept later, in small transactions.

ALTER TABLE users
    ADD COLUMN wiped_at timestamptz,                     -- the latest removal: relations to channels up to then are over
    ADD COLUMN wipes    integer     NOT NULL DEFAULT 0,  -- how many removals there were: devices that know of fewer are gone
    ADD COLUMN unswept  boolean     NOT NULL DEFAULT false,
    ADD COLUMN added_at timestamptz NOT NULL DEFAULT now();
UPDATE users SET wiped_at = facts_at WHERE deleted;
CREATE INDEX users_unswept ON users (network_id, user_id) WHERE unswept;

ALTER TABLE channels
    ADD COLUMN wiped_at   timestamptz,                   -- the latest removal: relations to users up to then are over
    ADD COLUMN emptied_at timestamptz,                   -- memberships up to then are over, channel toggles are not
    ADD COLUMN unswept    boolean NOT NULL DEFAULT false;
UPDATE channels SET wiped_at = facts_at, emptied_at = facts_at WHERE deleted;
CREATE INDEX channels_unswept ON channels (network_id, channel_id) WHERE unswept;

ALTER TABLE devices
    ADD COLUMN user_wipes integer NOT NULL DEFAULT 0;    -- how often the user had been removed when it was registered

-- Devices that were quarantined by mistake are ours to mend; after more than a year nobody will.
CREATE INDEX devices_quarantined_by_age ON devices (state_at) WHERE state = 'quarantined';

-- Left alone, PostgreSQL waits until a fifth of a table has changed: of a hundred million rows too many, and too late for
-- those that come and go within minutes or days.
ALTER TABLE changes SET (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000,
    autovacuum_vacuum_cost_delay = 0);
ALTER TABLE event_keys SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1,
    autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE users SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE channels SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE members SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE devices SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.02);
ALTER TABLE dead_letters SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_analyze_scale_factor = 0.05);
ALTER TABLE lanes SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE lane_reports SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE idempotency_keys SET (autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 1000);
ALTER TABLE events_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
ALTER TABLE outcomes_default SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
