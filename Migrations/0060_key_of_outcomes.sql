-- By the constraint it is known, and nothing is read.
ALTER TABLE outcomes ALTER COLUMN number SET NOT NULL;
ALTER TABLE outcomes DROP CONSTRAINT outcomes_numbered;

ALTER TABLE outcomes ADD CONSTRAINT outcomes_pkey PRIMARY KEY (network_id, event_id, number);
