-- The same for bundles themselves. A file of its own: the two tables are used in turn.
DROP TRIGGER deliveries_bundles ON deliveries;
DROP FUNCTION keep_from_former_releases();
