-- Since when a source has failed each time.
ALTER TABLE sources ADD COLUMN failing_since timestamptz;
