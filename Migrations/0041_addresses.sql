-- When an address was obtained, where the registration does not tell: a push service that says since when an address is dead is
-- believed only if that is later. NULL: at registered_at, or, of a transient device, nobody knows. 'epoch': an imported device of
-- which nobody knows. It holds while registered_at is what it was said for: a replica of a former release that registers the device
-- anew writes neither.
ALTER TABLE devices ADD COLUMN obtained_at timestamptz, ADD COLUMN obtained_for timestamptz;
