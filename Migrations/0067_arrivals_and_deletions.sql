-- By which move a network arrives, where it arrives: whoever has slept since another one adds nothing to it.
CREATE TABLE arrivals (
    network_id text COLLATE "C" PRIMARY KEY,
    move_id    uuid NOT NULL
);

-- Networks that were deleted, at home, and the placement in which something of them may be left: for as long, none of that id is made
-- elsewhere.
CREATE TABLE deleted_networks (
    network_id text        COLLATE "C" PRIMARY KEY,
    placement  text        COLLATE "C" NOT NULL,
    deleted_at timestamptz NOT NULL
);

-- placement: where the request was carried out, if it was, and where its answer is kept, wherever the network goes.
ALTER TABLE network_requests ADD COLUMN placement text COLLATE "C";
