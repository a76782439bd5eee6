-- What is wrong with lanes: that they are paused, and what their providers report as gone. A lane that is well has no row.
CREATE TABLE lanes (
    network_id     text        COLLATE "C" NOT NULL,
    provider       text        COLLATE "C" NOT NULL,
    app_id         text        COLLATE "C" NOT NULL,
    paused_since   timestamptz,
    paused_until   timestamptz,
    pause_reason   text,
    next_pause     bigint      NOT NULL,          -- milliseconds
    counted_since  timestamptz,                   -- since when answers are counted
    delivered      integer     NOT NULL DEFAULT 0,
    others         integer     NOT NULL DEFAULT 0,
    gone           integer     NOT NULL DEFAULT 0,
    braked_since   timestamptz,                   -- reports of devices as gone are not believed
    believed_until timestamptz,                   -- an admin has let the brake go
    undo_since     timestamptz,                   -- devices put out of use from then on are to be taken back into use,
    undo_until     timestamptz,                   -- as far as that was written until then
    changed_at     timestamptz NOT NULL,
    PRIMARY KEY (network_id, provider, app_id)
);
CREATE INDEX lanes_by_age ON lanes (changed_at);
INSERT INTO lanes (network_id, provider, app_id, next_pause, believed_until, changed_at)
SELECT network_id, provider, app_id, 15000, until, now() FROM released_brakes;
DROP TABLE released_brakes;

-- While a lane's brake is on: the devices that were reported as gone, and those that were delivered to since.
CREATE TABLE lane_reports (
    network_id  text        COLLATE "C" NOT NULL,
    provider    text        COLLATE "C" NOT NULL,
    app_id      text        COLLATE "C" NOT NULL,
    device_id   text        COLLATE "C" NOT NULL,
    is_gone     boolean     NOT NULL,
    PRIMARY KEY (network_id, provider, app_id, device_id),
    FOREIGN KEY (network_id, provider, app_id) REFERENCES lanes ON DELETE CASCADE
);

-- Claims go by network and then by time; what waits for its lane is found by that.
CREATE INDEX deliveries_due ON deliveries (network_id, run_at);
UPDATE deliveries SET lane_reason = 'waits' WHERE NOT leased AND attempt = 0 AND lane_reason IS NULL AND run_at > now();
CREATE INDEX deliveries_by_lane ON deliveries (network_id, provider, app_id) WHERE lane_reason IS NOT NULL;
DROP INDEX deliveries_ready;
