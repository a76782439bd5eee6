-- The trigger kept bodies from the sweep of releases that know nothing of bundles (0037), which a release lies between now. What it
-- asked for is a setting that a role of a managed server cannot be given, and so no session behind a pooler has.
DROP TRIGGER relayed_bundles ON relayed;
