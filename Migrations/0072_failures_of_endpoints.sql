-- When an endpoint failed last: one that has not been told anything for long is not one that has failed for long.
ALTER TABLE endpoints ADD COLUMN failed_at timestamptz;
