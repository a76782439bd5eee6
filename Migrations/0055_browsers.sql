-- Whether any browser came with a notification: of what did, there may be millions, and few are browsers.
CREATE INDEX devices_browsers_transient ON devices (network_id) WHERE transient AND provider = 'webpush';
