-- Whom notifications did not reach is listed by time, over all events of a network: of the log's rows the few that say so. Rows of
-- former releases do not say of which app they are.
ALTER TABLE outcomes ADD COLUMN app_id text COLLATE "C";
CREATE INDEX outcomes_failed ON outcomes (network_id, at, number) WHERE dead > 0 OR expired > 0 OR unregistered > 0;
