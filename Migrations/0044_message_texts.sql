-- What messages said, for the faces that tell it again for some days; the id says since when.
CREATE TABLE message_texts (
    network_id text COLLATE "C" NOT NULL,
    event_id   uuid NOT NULL,
    text       text NOT NULL,
    PRIMARY KEY (network_id, event_id)
);
CREATE INDEX message_texts_by_age ON message_texts (event_id);
ALTER TABLE message_texts SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_threshold = 1000);
