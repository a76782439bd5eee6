-- Pages of what was registered: ids of this form are also those of devices that came with notifications, of which there may be many.
CREATE INDEX devices_registered_like_addresses ON devices (network_id, device_id)
    WHERE NOT transient AND device_id >= 't-' AND device_id < 't.';
