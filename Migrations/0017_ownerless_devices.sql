-- user_id '' : nobody's device. An empty id cannot come from outside, so that every join with users simply finds nothing.
ALTER TABLE devices
    ADD COLUMN attributes  text,                              -- JSON that only other systems' APIs read; at most 4 KiB
    ADD COLUMN secret_hash bytea,                             -- SHA-256 of the installation's own secret: proves that it is the same one
    ADD COLUMN broadcasts  boolean     NOT NULL DEFAULT true, -- gets what is sent to everyone
    ADD COLUMN transient   boolean     NOT NULL DEFAULT false,-- came with a notification, nobody registered it
    ADD COLUMN seen_at     timestamptz NOT NULL DEFAULT now();-- when it was last registered or named in a notification
-- Pages of what nobody owns; an owner's few devices are found as before.
CREATE INDEX devices_of_nobody ON devices (network_id, device_id) WHERE user_id = '';
CREATE INDEX devices_transient_by_age ON devices (seen_at) WHERE transient;
CREATE INDEX devices_never_reached ON devices (registered_at) WHERE transient AND error = 'not delivered to yet';
