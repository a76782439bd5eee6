-- Changes of before 0056, of ten minutes at the most: whoever reads by numbers began to after them, so that any number does that is theirs
-- alone.

-- in steps
WITH part AS (
    SELECT c.ctid AS at, row_number() OVER () AS number FROM (SELECT ctid FROM changes WHERE seq IS NULL LIMIT 5000) AS c
), lowest AS (
    SELECT least(min(seq), 0) AS seq FROM changes
)
UPDATE changes c SET seq = lowest.seq - part.number FROM part, lowest WHERE c.ctid = part.at;

-- That all have a number is looked at under a lock: it is a look at ten minutes.
ALTER TABLE changes ADD CONSTRAINT changes_pkey PRIMARY KEY (network_id, slot, seq, place);
