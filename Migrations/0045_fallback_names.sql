-- The name of a channel where none was stated, such as an alias; empty where its id is no word that could stand for one.
ALTER TABLE channels ADD COLUMN fallback_name text;
