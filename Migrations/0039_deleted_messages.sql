-- Of which message a delivery tells: a name-based UUID of its channel's id and its own; null where it has no id. What is deleted stands
-- in `withdrawals` under the same value.
ALTER TABLE deliveries ADD COLUMN message_key uuid;
