-- Why the last try to expand an event failed; it is tried again, or set aside with this reason.
ALTER TABLE inbox ADD COLUMN failure text;
