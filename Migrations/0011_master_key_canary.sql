-- A known text, sealed with the master key: it tells whether a service has the right one. At most one row.
CREATE TABLE master_key_canary (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    sealed   bytea   NOT NULL
);
