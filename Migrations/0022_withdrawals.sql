-- Events whose deliveries were withdrawn: what is claimed or looked at again of one is not sent any more.
CREATE TABLE withdrawals (
    network_id   text        COLLATE "C" NOT NULL,
    event_id     uuid        NOT NULL,
    withdrawn_at timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (network_id, event_id)
);
-- Of an event whose recipients have not all been found: no more are looked for.
ALTER TABLE inbox ADD COLUMN withdrawn boolean NOT NULL DEFAULT false;
-- Pages of what nobody owns are for those that somebody registered: the others may be many.
DROP INDEX devices_of_nobody;
CREATE INDEX devices_of_nobody ON devices (network_id, device_id) WHERE user_id = '' AND NOT transient;
CREATE INDEX withdrawals_by_age ON withdrawals (withdrawn_at);
