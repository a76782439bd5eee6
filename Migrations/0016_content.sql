-- What a notification carries beyond title and body, in JSON; null: the payload is built of the event alone.
ALTER TABLE deliveries ADD COLUMN content text;
ALTER TABLE dead_letters ADD COLUMN content text;
