import CarillonCore
import Postgres

extension MoveFence {
    func tables() async throws -> [MovedTable] {
        try await pool.withConnection { session in try session.movedTables().filter(\.isMoved) }
    }

    /// The networks that have a fence in a placement.
    static func networks(in pool: PostgresPool) async throws -> Set<NetworkID> {
        let networks = try await pool.query(
            """
            SELECT DISTINCT convert_from(substring(t.tgargs FROM 1 FOR length(t.tgargs) - 1), 'UTF8')
            FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            WHERE c.relnamespace = current_schema()::regnamespace AND t.tgname LIKE 'moving\\_%' AND t.tgnargs = 1
            """
        ) { row in try row.id(0, of: Network.self) }
        return Set(networks)
    }

    /// The networks that are arriving in a placement.
    static func arrivals(in pool: PostgresPool) async throws -> Set<NetworkID> {
        let networks = try await pool.query(
            "SELECT network_id FROM networks WHERE away = \(MoveGate.arriving.rawValue)"
        ) { row in
            try row.id(0, of: Network.self)
        }
        return Set(networks)
    }

    /// Whether the network is arriving here by another move: nobody goes on with that, who was at it and slept.
    func isArriving(otherwiseThan move: NetworkMove) async throws -> Bool {
        try await pool.execute(
            """
            SELECT FROM networks n
            WHERE n.network_id = \(network.rawValue) AND n.away = \(MoveGate.arriving.rawValue)
                AND NOT EXISTS (SELECT FROM arrivals a
                                WHERE a.network_id = n.network_id AND a.move_id = \(move.id))
            """
        ) > 0
    }

    /// Which migrations the tables are made by.
    func migrations() async throws -> [String] {
        try await pool.query("SELECT checksum FROM schema_migrations ORDER BY version") { row in try row.decode(0) }
    }

    /// What the placement's secrets begin with, which names the master key that they are sealed with; `nil` before it is known.
    func masterKeyName() async throws -> [UInt8]? {
        try await pool.first("SELECT sealed FROM master_key_canary", as: [UInt8].self)
            .map { Array($0.prefix(SecretBox.headerLength)) }
    }

    /// Whether nobody has anything of the network in hand.
    func isDrained() async throws -> Bool {
        try await pool.queryFirst(
            .unprepared(
                """
                SELECT NOT EXISTS (SELECT FROM inbox WHERE network_id = \(network.rawValue) AND leased AND run_at > now())
                    AND NOT EXISTS (SELECT FROM deliveries
                                    WHERE network_id = \(network.rawValue) AND leased AND run_at > now())
                """
            )
        ) { row in try row.decode(0, as: Bool.self) } ?? true
    }

    /// Whether there is a network of this id that is no arriving one, or something left of one.
    func isInhabited() async throws -> Bool {
        if let gate = try await gate() { return gate != MoveGate.arriving.rawValue }
        return try await pool.queryFirst(
            .unprepared(
                """
                SELECT EXISTS (SELECT FROM former_networks WHERE network_id = \(network.rawValue))
                    OR \(sql: NetworkPurge.isAnythingLeft(of: network))
                """
            )
        ) { row in try row.decode(0, as: Bool.self) } ?? false
    }

    /// Removes what nobody needs any more where a network has left, so that nobody waits for it.
    func emptyQueues() async throws {
        for queue in ["inbox", "deliveries"] {
            var count = NetworkPurge.batchSize
            while count > 0 {
                count = try await asMover(at: .rows(of: queue)) { session in
                    guard try session.hasLeavings(of: network) else { return 0 }
                    return try session.execute(.unprepared(NetworkPurge.statement(queue, of: network)))
                }
            }
        }
    }

    /// Makes a network that is not here a former one; `false` where it is here.
    func expel() async throws -> Bool {
        try await asMover { session in
            try session.lockName(of: network)
            if try session.hasLeavings(of: network) {
                try session.execute("DELETE FROM idempotency_keys WHERE network_id = \(network.rawValue)")
                try session.execute("DELETE FROM arrivals WHERE network_id = \(network.rawValue)")
                try session.execute(
                    "DELETE FROM networks WHERE network_id = \(network.rawValue) AND NOT \(sql: .isHere)"
                )
                try session.noteDeparture(of: network)
                try session.countFaceChange()
            }
            guard try session.execute("SELECT FROM networks WHERE network_id = \(network.rawValue)") == 0 else {
                return false
            }
            try session.noteFormerNetwork(network)
            return true
        }
    }
}
