-- Of which app a delivery was. Rows of former releases do not say it.
ALTER TABLE outcomes ADD COLUMN app_id text COLLATE "C";
