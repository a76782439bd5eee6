-- What came with notifications counts among nobody's devices as well, and the longest unseen of it makes room for others. Former
-- replicas go on reading while this is built; what they use instead goes in the next file.
CREATE INDEX devices_ownerless_by_address ON devices (network_id, address_hash) WHERE user_id = '';
CREATE INDEX devices_transient_of_network ON devices (network_id, seen_at) WHERE transient;
