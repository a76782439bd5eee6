-- Networks may be in several databases or schemas, placements. The first one, home, keeps the list of who is where; elsewhere these tables
-- stay empty. Placements are known by their names here, never by where they are.
-- identity: which database and schema it is; another one of that name is a mistake for as long as networks are listed there.
CREATE TABLE placements (
    name       text        COLLATE "C" PRIMARY KEY,
    identity   text,
    state      text        NOT NULL CHECK (state IN ('open', 'full', 'leaving')),
    changed_at timestamptz NOT NULL
);

-- making: it was decided where the network is made, and not yet said that it was.
-- target and step: of a network that moves.
CREATE TABLE placed_networks (
    network_id text        COLLATE "C" PRIMARY KEY,
    placement  text        COLLATE "C" NOT NULL,
    state      text        NOT NULL CHECK (state IN ('making', 'live', 'moving')),
    target     text        COLLATE "C",
    step       text,
    changed_at timestamptz NOT NULL
);
CREATE INDEX placed_networks_by_placement ON placed_networks (placement);

-- One row, which is counted up by all who change the list: whoever knows its number knows the list.
CREATE TABLE placement_changes (
    one     boolean PRIMARY KEY DEFAULT true CHECK (one),
    changes bigint  NOT NULL
) WITH (fillfactor = 50);
INSERT INTO placement_changes (changes) VALUES (1);

-- Names in other systems that must be unique over all placements.
CREATE TABLE face_names (
    kind       text COLLATE "C" NOT NULL,
    face       text COLLATE "C" NOT NULL,
    name       text COLLATE "C" NOT NULL,
    network_id text COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, face, name)
);
CREATE INDEX face_names_by_network ON face_names (network_id);

-- Requests that make networks, by their keys: one that comes again with another body is told so, wherever its network would be.
CREATE TABLE network_requests (
    key_hash   bytea       PRIMARY KEY,
    body_hash  bytea       NOT NULL,
    created_at timestamptz NOT NULL
);

-- What a database or schema is told from another by, whatever it is called.
CREATE TABLE placements_self (
    one boolean PRIMARY KEY DEFAULT true CHECK (one),
    id  uuid    NOT NULL
);
INSERT INTO placements_self (id) VALUES (gen_random_uuid());
