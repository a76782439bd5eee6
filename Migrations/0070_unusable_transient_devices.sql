-- Devices that came with a notification and were refused are forgotten after two days; the others that were refused stay for 400, and
-- are not to be looked through for them every minute.
CREATE INDEX devices_unusable_transient ON devices (state_at) WHERE state = 'quarantined' AND transient;
