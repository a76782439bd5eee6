-- Whom notifications did not reach is listed by time, over all events of a network: of the log's rows the few that say so. A file of
-- its own: what adds the column keeps out readers, too, and must not wait for an index.
CREATE INDEX outcomes_failed ON outcomes (network_id, at, number)
    WHERE (dead > 0 OR expired > 0 OR unregistered > 0) AND records <> '[]';
