-- Networks that were deleted, for as long as anything of them is left: nobody can make one of that id until then, and what is left is
-- removed only under such a row. deleted_in: transactions up to this one may have written for the network when it was still there.
CREATE TABLE former_networks (
    network_id text        COLLATE "C" PRIMARY KEY,
    deleted_at timestamptz NOT NULL DEFAULT now(),
    deleted_in xid8        NOT NULL DEFAULT pg_current_xact_id()
);
