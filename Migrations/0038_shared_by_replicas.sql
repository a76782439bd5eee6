-- What was answered lately to posts and requests of each network: the last of each place, without texts. Ids are UUIDv7s, so that
-- they are in the order of time, whichever replica wrote them.
CREATE TABLE journal (
    network_id text COLLATE "C" NOT NULL,
    place      text COLLATE "C" NOT NULL,
    entry_id   uuid             NOT NULL,
    note       text             NOT NULL,             -- JSON
    PRIMARY KEY (network_id, place, entry_id)
) WITH (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
CREATE INDEX journal_by_age ON journal (entry_id);

-- Why an event concerned nobody, where it did not.
ALTER TABLE events ADD COLUMN why text;
