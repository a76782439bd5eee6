-- An old snapshot keeps dead rows in indexes, and whoever walks along one from its beginning walks over all of them. What is due is
-- found by what has become due lately, whoever's it is; and then network by network, of what nobody has in hand. What is leased as
-- it comes in, and done before its lease ends, never enters the index of what waits. The one of times is of an expression, so that
-- no plan takes it for the other one.
CREATE INDEX inbox_by_time ON inbox ((greatest(run_at)));
CREATE INDEX inbox_waiting ON inbox (network_id, run_at) WHERE NOT leased;
CREATE INDEX deliveries_by_time ON deliveries ((greatest(run_at)));
CREATE INDEX deliveries_waiting ON deliveries (network_id, run_at) WHERE NOT leased;

-- To the planner a queue of dead rows is an empty one, in which all ways are equally short: so no other index than the primary key may
-- have a part of that as it is, or a row would be looked for among all of its network.
CREATE INDEX deliveries_of_event ON deliveries (event_id, (greatest(group_id)));
