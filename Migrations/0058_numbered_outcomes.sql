-- Rows of before 0015, if there still are any.

-- in steps
UPDATE outcomes o SET number = nextval('outcome_numbers')
FROM (SELECT DISTINCT u.network_id, u.event_id
      FROM (SELECT network_id, event_id FROM outcomes WHERE number IS NULL LIMIT 2000) AS u) AS old
WHERE o.network_id = old.network_id AND o.event_id = old.event_id AND o.number IS NULL;

ALTER TABLE outcomes ADD CONSTRAINT outcomes_numbered CHECK (number IS NOT NULL) NOT VALID;
