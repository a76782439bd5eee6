-- What networks allow and how much they may use up. Null stands for the defaults of the release that runs.

ALTER TABLE networks
    ADD COLUMN device_registration text NOT NULL DEFAULT 'userToken',
    ADD COLUMN web_push_hosts      text,            -- a JSON array of patterns
    ADD COLUMN limits              text;            -- JSON as in API section 2: what differs from the defaults

-- How many channels a user has set toggles for is counted when one is added.
CREATE INDEX members_with_toggles_by_user ON members (network_id, user_id) WHERE toggles IS NOT NULL;

-- How many servers a network's webhooks name is counted when one is added.
CREATE INDEX devices_by_webhook_host ON devices (network_id, app_id) WHERE provider = 'webhook';
