-- As inbox.trace of 0049, for as long as the event is remembered.
ALTER TABLE events ADD COLUMN trace text;
