-- Statements on the queues keep their plans, and a queue is empty most of the time: planned then, every index that begins
-- with network_id looks as good as the primary key, and the wrong one costs seconds once the queue has filled. A predicate
-- that is always true, and that only those statements name which are meant to use an index, leaves the others the key.

DROP INDEX deliveries_ready;
CREATE INDEX deliveries_ready ON deliveries (network_id, provider, app_id, run_at) WHERE size > 0;
DROP INDEX deliveries_by_event;
CREATE INDEX deliveries_by_event ON deliveries (network_id, event_id) WHERE size > 0;
DROP INDEX inbox_ready;
CREATE INDEX inbox_ready ON inbox (network_id, run_at) WHERE rescues >= 0;
