-- When an address was obtained, where the registration does not tell: a push service that says since when an address is dead is
-- believed only if that is later. NULL: at registered_at, or, of a transient device, nobody knows. 'epoch': an imported device of
-- which nobody knows.
ALTER TABLE devices ADD COLUMN obtained_at timestamptz;

-- What came with notifications counts among nobody's devices as well, and the longest unseen of it makes room for others.
DROP INDEX devices_of_nobody_by_address;
CREATE INDEX devices_of_nobody_by_address ON devices (network_id, address_hash) WHERE user_id = '';
CREATE INDEX devices_transient_of_network ON devices (network_id, seen_at) WHERE transient;
