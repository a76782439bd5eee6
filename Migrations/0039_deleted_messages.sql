-- Of which message a delivery tells: a name-based UUID of its channel's id and its own; null where it has no id. What is deleted stands
-- in `withdrawals` under the same value. Only what waits is looked for: what is on its way never enters the index.
ALTER TABLE deliveries ADD COLUMN message_key uuid;
CREATE INDEX deliveries_of_messages ON deliveries (network_id, message_key) WHERE message_key IS NOT NULL AND NOT leased;
