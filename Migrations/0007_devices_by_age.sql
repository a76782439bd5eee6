-- Unregistered devices are forgotten when they are old enough.
CREATE INDEX devices_unregistered_by_age ON devices (state_at) WHERE state = 'unregistered';
