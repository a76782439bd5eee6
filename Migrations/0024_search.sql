-- Where and by whom an event was caused, for those who look for events; null for those of before, and where it is nowhere.
ALTER TABLE inbox
    ADD COLUMN channel_id text COLLATE "C",
    ADD COLUMN actor_id   text COLLATE "C";
ALTER TABLE events
    ADD COLUMN channel_id text COLLATE "C",
    ADD COLUMN actor_id   text COLLATE "C";
