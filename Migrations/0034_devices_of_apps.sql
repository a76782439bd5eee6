-- Pages of what was registered for an app, in the order of the ids: lists of other systems go by application.
CREATE INDEX devices_of_apps ON devices (network_id, provider, app_id, device_id) WHERE NOT transient;
