package import CarillonCore
package import Postgres

/// The list of who is where, in home's tables `placements` and `placed_networks`.
///
/// Whoever changes the list counts up `placement_changes` last, so that all who change it wait for each other there alone.
package struct PostgresPlacementCatalog: PlacementCatalog {
    private let pool: PostgresPool

    /// The list in the database of `pool`, which is home's.
    package init(pool: PostgresPool) {
        self.pool = pool
    }

    /// Begins the list, or goes on with it: enters placements that are new, and networks and names that home had before there were several.
    ///
    /// A new placement takes no networks before somebody opens it, which is when all replicas know it; home does.
    package func enter(_ names: [PlacementName]) async throws {
        try await pool.write { session in
            var entered = 0
            for name in names { entered += try session.enter(name) }
            entered += try session.execute(
                """
                INSERT INTO placed_networks (network_id, placement, state, changed_at)
                SELECT network_id, \(PlacementName.home.rawValue), 'live', created_at FROM networks
                WHERE \(sql: .isHere)
                ON CONFLICT (network_id) DO NOTHING
                """
            )
            try session.execute(
                """
                INSERT INTO face_names (kind, face, name, network_id)
                SELECT \(ClaimedName.Kind.binding.rawValue), face, external_id, network_id FROM faces f
                WHERE scope = '' AND \(sql: .isNetworkHere)
                UNION ALL
                SELECT \(ClaimedName.Kind.key.rawValue), face, key_name, network_id FROM face_keys f
                WHERE sealed IS NOT NULL AND \(sql: .isNetworkHere)
                UNION ALL
                SELECT \(ClaimedName.Kind.key.rawValue), face, translate(encode(hash, 'base64'), '+/=', '-_'), network_id
                FROM face_keys f WHERE hash IS NOT NULL AND \(sql: .isNetworkHere)
                ON CONFLICT (kind, face, name) DO NOTHING
                """
            )
            if entered > 0 { try session.countPlacementChange() }
        }
    }

    /// Notes which database and schema a placement is; `false` where it was another, and has networks there, or one that arrives.
    package func adopt(_ name: PlacementName, identity: String) async throws -> Bool {
        try await pool.write { session in
            _ = try session.enter(name)
            try session.execute(
                """
                UPDATE placements SET identity = \(identity)
                WHERE name = \(name.rawValue) AND identity IS DISTINCT FROM \(identity) AND (identity IS NULL
                    OR NOT EXISTS (SELECT FROM placed_networks n WHERE n.placement = \(name.rawValue))
                        AND NOT EXISTS (SELECT FROM network_moves m
                                        WHERE m.target = \(name.rawValue)
                                            AND m.step IN ('fenced', 'copying', 'switching')))
                """
            )
            let reading: SQL = "SELECT identity FROM placements WHERE name = \(name.rawValue)"
            return try session.first(reading, as: String?.self) == identity
        }
    }

    /// Whether a placement is the database and schema that its networks are in.
    func isRight(_ name: PlacementName, _ pool: PostgresPool) async throws -> Bool {
        try await adopt(name, identity: PlacementIdentity.id(pool))
    }

    /// A network that is listed elsewhere than at home, if there is any: without that placement's URL nobody would find it.
    package func networkElsewhere() async throws -> (network: NetworkID, placement: String)? {
        try await pool.queryFirst(
            """
            SELECT network_id, placement FROM placed_networks
            WHERE placement <> \(PlacementName.home.rawValue) ORDER BY network_id LIMIT 1
            """
        ) { row in (try row.id(0), try row.decode(1)) }
    }

    package func list(unless version: Int64?) async throws -> PlacementList? {
        try await pool.snapshot { session in
            let changes = try session.first("SELECT changes FROM placement_changes", as: Int64.self)
            guard let changes, changes != version else { return nil }
            let rows = try session.query("SELECT network_id, placement, state = 'moving' FROM placed_networks") { row in
                (
                    network: try row.id(0, of: Network.self),
                    placement: PlacementName(try row.decode(1, as: String.self)),
                    isMoving: try row.decode(2, as: Bool.self)
                )
            }
            return PlacementList(
                version: changes,
                placements: rows.reduce(into: [:]) { $0[$1.network] = $1.placement },
                moving: Set(rows.lazy.filter(\.isMoving).map(\.network))
            )
        }
    }

    package func records() async throws -> [PlacementRecord] {
        let records = try await pool.query(
            """
            SELECT p.name, p.state, (SELECT count(*) FROM placed_networks n WHERE n.placement = p.name)
            FROM placements p ORDER BY p.name
            """
        ) { row -> PlacementRecord? in
            guard let name = PlacementName(try row.decode(0, as: String.self)),
                let state = PlacementState(rawValue: try row.decode(1, as: String.self))
            else { return nil }
            return PlacementRecord(name: name, state: state, networks: try row.decode(2))
        }
        return records.compactMap(\.self)
    }

    package func setState(_ state: PlacementState, of name: PlacementName) async throws -> Bool {
        try await pool.write { session in
            try session.execute(
                """
                UPDATE placements SET state = \(state.rawValue), changed_at = \(try session.moment())
                WHERE name = \(name.rawValue)
                """
            ) > 0
        }
    }
}

// MARK: - Networks

extension PostgresPlacementCatalog {
    package func reserve(
        _ network: NetworkID,
        in wanted: PlacementName?,
        among candidates: [PlacementName],
        for request: IdempotentRequest?
    ) async throws -> PlacementName {
        try await pool.write { session in
            var former: PlacementName?
            if let request { former = try session.note(request) }
            try session.lockName(of: network)
            let placement: PlacementName
            if let listed = try session.touchPlacement(of: network) {
                placement = listed
            } else {
                placement = try session.list(network, in: former, orElse: wanted, among: candidates)
            }
            if let request, former == nil { try session.note(placement, of: request) }
            return placement
        }
    }

    /// Where a request that makes a network was to be carried out when it came first; `nil` for one that did not come.
    func placement(of request: IdempotentRequest) async throws -> PlacementName? {
        try await pool.withConnection { session in
            try session.placement(
                "network_requests WHERE key_hash = \(request.keyHash) AND body_hash = \(request.bodyHash)"
            )
        }
    }

    /// The placement in which something may be left of a network that was deleted; `nil` where nothing is known to be.
    func placementOfDeleted(_ network: NetworkID) async throws -> PlacementName? {
        try await pool.withConnection { session in
            try session.placement("deleted_networks WHERE network_id = \(network.rawValue)")
        }
    }

    /// The placements in which moves have left something of a former network, where one of its id is being made.
    func remains(ofFormer network: NetworkID) async throws -> Set<PlacementName> {
        let names = try await pool.query(
            """
            SELECT m.remains FROM network_moves m JOIN placed_networks n ON n.network_id = m.network_id
            WHERE n.network_id = \(network.rawValue) AND n.state = 'making' AND m.remains IS NOT NULL
            """
        ) { row in PlacementName(try row.decode(0, as: String.self)) }
        return Set(names.compactMap(\.self))
    }

    /// Nothing is left of a deleted network in a placement.
    func forgetDeleted(_ network: NetworkID, in placement: PlacementName) async throws {
        try await pool.write(
            """
            DELETE FROM deleted_networks
            WHERE network_id = \(network.rawValue) AND placement = \(placement.rawValue)
            """
        )
    }

    /// Networks that are there now.
    func confirm(_ networks: [NetworkID]) async throws {
        try await pool.write(
            """
            UPDATE placed_networks SET state = 'live'
            WHERE network_id = ANY (\(networks.map(\.rawValue))) AND state = 'making'
            """
        )
    }

    /// Takes networks off the list that are not in a placement, or not any more, unless somebody was about to make them there since `age`, and
    /// remembers that something of them may be left there.
    func remove(_ networks: [NetworkID], from placement: PlacementName, olderThan age: Duration) async throws {
        guard !networks.isEmpty else { return }
        try await pool.write { session in
            let rows = try session.query(
                """
                DELETE FROM placed_networks
                WHERE network_id = ANY (\(networks.map(\.rawValue))) AND placement = \(placement.rawValue)
                    AND state <> 'moving' AND changed_at <= now() - \(age.wholeMilliseconds) * interval '1 millisecond'
                RETURNING network_id, state
                """
            ) { row in (network: try row.decode(0, as: String.self), state: try row.decode(1, as: String.self)) }
            guard !rows.isEmpty else { return }
            // One that was never there has left nothing: what is known of a former one stays.
            for row in rows {
                try session.execute(
                    """
                    INSERT INTO deleted_networks (network_id, placement, deleted_at)
                    VALUES (\(row.network), \(placement.rawValue), now())
                    ON CONFLICT (network_id) DO UPDATE
                    SET placement = EXCLUDED.placement, deleted_at = EXCLUDED.deleted_at
                    WHERE \(row.state)::text <> 'making'
                    """
                )
            }
            let removed = rows.map(\.network)
            try session.execute("DELETE FROM face_names WHERE network_id = ANY (\(removed))")
            try session.execute("DELETE FROM network_moves WHERE network_id = ANY (\(removed)) AND remains IS NULL")
            // What it has left where it was is in the way of one of its name.
            try session.execute(
                "UPDATE network_moves SET remove_at = now() WHERE network_id = ANY (\(removed)) AND remains IS NOT NULL"
            )
            try session.countPlacementChange()
        }
    }

    /// The networks that a placement should have, but for those that somebody was about to make there since `age`.
    func listed(in placement: PlacementName, olderThan age: Duration) async throws -> [NetworkID] {
        try await pool.query(
            """
            SELECT network_id FROM placed_networks
            WHERE placement = \(placement.rawValue) AND state <> 'moving'
                AND changed_at <= now() - \(age.wholeMilliseconds) * interval '1 millisecond'
            """
        ) { row in try row.id(0) }
    }
}

extension PostgresSession {
    /// Lets everybody who remembers the list read it anew.
    func countPlacementChange() throws {
        try execute("UPDATE placement_changes SET changes = changes + 1")
    }

    /// Enters a placement, unless it is there: home takes networks, and others when somebody has opened them.
    fileprivate func enter(_ name: PlacementName) throws -> Int {
        let state = name == .home ? PlacementState.open : .full
        return try execute(
            """
            INSERT INTO placements (name, state, changed_at) VALUES (\(name.rawValue), \(state.rawValue), now())
            ON CONFLICT (name) DO NOTHING
            """
        )
    }

    /// Notes a request that makes a network; where that was to be done when it came before.
    /// - Throws: ``IdempotentRequest/Failure/differentBody`` where its key came with another body before.
    fileprivate func note(_ request: IdempotentRequest) throws -> PlacementName? {
        let lifetime = IdempotentRequest.lifetime.wholeMilliseconds
        try execute(
            """
            INSERT INTO network_requests AS k (key_hash, body_hash, created_at)
            VALUES (\(request.keyHash), \(request.bodyHash), now())
            ON CONFLICT (key_hash) DO UPDATE
            SET body_hash = EXCLUDED.body_hash, created_at = EXCLUDED.created_at, placement = NULL
            WHERE k.created_at AT TIME ZONE 'UTC'
                <= EXCLUDED.created_at AT TIME ZONE 'UTC' - \(lifetime) * interval '1 millisecond'
            """
        )
        let row: SQL = "network_requests WHERE key_hash = \(request.keyHash)"
        guard try first("SELECT body_hash FROM \(sql: row)", as: [UInt8].self) == request.bodyHash else {
            throw IdempotentRequest.Failure.differentBody
        }
        return try placement(row)
    }

    /// Notes where a request is carried out.
    fileprivate func note(_ placement: PlacementName, of request: IdempotentRequest) throws {
        try execute(
            """
            UPDATE network_requests SET placement = \(placement.rawValue)
            WHERE key_hash = \(request.keyHash) AND placement IS NULL
            """
        )
    }

    /// The placement that a row names.
    func placement(_ row: SQL) throws -> PlacementName? {
        try queryFirst("SELECT placement FROM \(sql: row)") { row in
            try row.decode(0, as: String?.self).flatMap { PlacementName($0) }
        } ?? nil
    }

    /// Enters a network that is to be made, where it was to be made before, or where it is wanted; answers where.
    /// - Throws: ``PlacementProblem/full(_:)``.
    fileprivate func list(
        _ network: NetworkID,
        in former: PlacementName?,
        orElse wanted: PlacementName?,
        among candidates: [PlacementName]
    ) throws -> PlacementName {
        // A replica that knows of one placement only has made it.
        let isAtHome =
            try execute("SELECT FROM networks WHERE network_id = \(network.rawValue) AND \(sql: .isHere)") > 0
        let placement =
            if isAtHome {
                PlacementName.home
            } else if let former {
                former
            } else {
                try openPlacement(wanted, among: candidates)
            }
        try execute(
            """
            INSERT INTO placed_networks (network_id, placement, state, changed_at)
            VALUES (\(network.rawValue), \(placement.rawValue), \(isAtHome ? "live" : "making"), now())
            """
        )
        try countPlacementChange()
        return placement
    }

    /// Where a network is listed, and that somebody is about to use that: whoever tidies up leaves it alone for a while.
    fileprivate func touchPlacement(of network: NetworkID) throws -> PlacementName? {
        try execute(
            "UPDATE placed_networks SET changed_at = \(try moment()) WHERE network_id = \(network.rawValue)"
        )
        return try placement("placed_networks WHERE network_id = \(network.rawValue)")
    }

    /// The placement that a new network goes to.
    /// - Throws: ``PlacementProblem/full(_:)``.
    fileprivate func openPlacement(_ wanted: PlacementName?, among candidates: [PlacementName]) throws -> PlacementName
    {
        let names = (wanted.map { [$0] } ?? candidates).map(\.rawValue)
        let placement = try queryFirst(
            """
            SELECT p.name FROM placements p WHERE p.state = 'open' AND p.name = ANY (\(names))
            ORDER BY (SELECT count(*) FROM placed_networks n WHERE n.placement = p.name), p.name LIMIT 1
            """
        ) { row in PlacementName(try row.decode(0, as: String.self)) }
        guard let placement = placement ?? nil else { throw PlacementProblem.full(wanted) }
        return placement
    }
}
