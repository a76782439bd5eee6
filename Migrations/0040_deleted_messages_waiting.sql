-- Only what waits is looked for: what is on its way never enters the index. A file of its own, as 0036.
CREATE INDEX deliveries_of_messages ON deliveries (network_id, message_key) WHERE message_key IS NOT NULL AND NOT leased;
