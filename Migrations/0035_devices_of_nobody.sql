-- How many of nobody's devices a network has is counted when an app registers one more: of many a share, by the hashes of addresses.
CREATE INDEX devices_of_nobody_by_address ON devices (network_id, address_hash) WHERE user_id = '' AND NOT transient;
