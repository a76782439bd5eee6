-- Whether somebody was a member when an event was accepted is told by marks, which the database gives out in the order in which
-- it is asked: no two clocks are compared. A flight of events takes a block of them, one for each event by its place of
-- arrival. All marks are greater than any UUIDv7, which members had before and events still waiting are ordered by.
CREATE SEQUENCE marks INCREMENT BY 4096;

CREATE FUNCTION next_mark() RETURNS uuid LANGUAGE sql VOLATILE
    RETURN ('ffffffffffffffff' || lpad(to_hex(nextval('marks')), 16, '0'))::uuid;

-- The mark of a place in the block that this session took last.
CREATE FUNCTION flight_mark(place bigint) RETURNS uuid LANGUAGE sql VOLATILE
    RETURN ('ffffffffffffffff' || lpad(to_hex(currval('marks') + place), 16, '0'))::uuid;

ALTER TABLE inbox ADD COLUMN mark uuid;                                -- null: the event's id is its mark
ALTER TABLE members ALTER COLUMN since_event SET DEFAULT next_mark();  -- the mark of what made them a member
