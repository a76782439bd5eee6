import CarillonCore
import Crypto
import Postgres

/// Keeps a network in one placement from all who write in it, but for the mover: triggers on all its tables, made for it alone (migration
/// 0063). What they let through is said by the network's row.
struct MoveFence: Sendable {
    /// For how long somebody who changes a table, or the network's row, waits for those who are at it; who comes behind waits as well.
    private static let lockWait = Duration.milliseconds(100)
    private static let pause = Duration.milliseconds(300)
    /// Some minutes: PostgreSQL's own housekeeping may be at a table for as long, and gives way to nobody who waits so briefly.
    static let attempts = 600
    /// Some seconds.
    private static let attemptsInSilence = 15

    let network: NetworkID
    let pool: PostgresPool
    /// How often somebody tries to change a table.
    var attempts = MoveFence.attempts

    private var name: String {
        let digest = SHA256.hash(data: Array(network.rawValue.utf8))
        return "moving_" + digest.prefix(12).map { byte in (byte < 16 ? "0" : "") + String(byte, radix: 16) }.joined()
    }

    /// A literal: statements that define something take no parameters.
    private var literal: String {
        "'" + network.rawValue.replacing("'", with: "''") + "'"
    }

    /// Makes the triggers that are missing, each as soon as nobody writes in its table who began without it, until none is missing: somebody
    /// may be removing those of a former move. Where the network's row says that it moves, nobody does.
    ///
    /// - Parameter hold: Called again and again meanwhile, now and then with what is in the way.
    /// - Throws: What `hold` throws, and why a trigger cannot be made.
    func raise(holding hold: (MoveObstacle?) async throws -> Void) async throws {
        let tables = try await pool.withConnection { session in try session.movedTables().filter(\.isFenced) }
        while true {
            let fenced = try await fencedTables()
            let missing = tables.map(\.name).filter { !fenced.contains($0) }
            if missing.isEmpty { return }
            for table in missing {
                try await hold(nil)
                try await patiently(at: .table(table), attempts, holding: hold) { try await raise(on: table) }
            }
        }
    }

    private func raise(on table: String) async throws {
        let relation: SQL = "\(identifier: table)"
        try await pool.withTransaction(TransactionOptions(lockTimeout: Self.lockWait)) { session in
            for (kind, row) in [("INSERT", "NEW"), ("UPDATE OR DELETE", "OLD")] {
                let definition = """
                    CREATE OR REPLACE TRIGGER \(name)_\(row.lowercased()) BEFORE \(kind) ON \(relation.text)
                    FOR EACH ROW WHEN (\(row).network_id = \(literal)) EXECUTE FUNCTION keep_moving_network(\(literal))
                    """
                try session.execute(.unprepared(SQL(trusted: definition)))
            }
        }
    }

    /// Removes the triggers, where the network's row lets everybody through. They keep nobody from anything then, so that a table which
    /// somebody is at, as a backup is, is left to whoever mends: all who came behind would wait for as long as this does.
    func lower() async throws {
        for table in try await fencedTables() {
            do {
                guard try await lower(on: table) else { return }
            } catch let error as PostgresError where error.isContention {}
        }
    }

    /// Removes a table's triggers; `false` where the network moves.
    private func lower(on table: String) async throws -> Bool {
        try await pool.withTransaction(TransactionOptions(lockTimeout: Self.lockWait)) { session in
            // Whoever has the network move, or arrive, waits until this is over, and looks then for what is missing.
            try session.lockName(of: network)
            guard try session.moveGate(of: network, isHeld: true)?.isEmpty != false else { return false }
            for row in ["new", "old"] {
                try session.execute(
                    .unprepared("DROP TRIGGER IF EXISTS \(identifier: "\(name)_\(row)") ON \(identifier: table)")
                )
            }
            return true
        }
    }

    /// The tables that have all triggers.
    func fencedTables() async throws -> Set<String> {
        let tables = try await pool.query(
            """
            SELECT c.relname::text FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
            WHERE c.relnamespace = current_schema()::regnamespace AND NOT c.relispartition
                AND t.tgname IN (\(name + "_new"), \(name + "_old"))
            GROUP BY c.relname HAVING count(*) = 2
            """
        ) { row in try row.decode(0, as: String.self) }
        return Set(tables)
    }

    /// Runs a transaction that the triggers let through, and that waits for others at `subject`.
    func asMover<Value: Sendable>(
        at subject: MoveObstacle.Subject = .network,
        _ body: @Sendable (borrowing PostgresSession) throws -> Value
    ) async throws -> Value {
        try await patiently(at: subject, min(20, attempts)) {
            try await pool.withTransaction(TransactionOptions(retries: 5, lockTimeout: Self.lockWait)) { session in
                try session.passMoveFence()
                return try body(session)
            }
        }
    }

    /// Does something that has to wait for others, a moment at a time.
    ///
    /// - Throws: ``MoveObstacle`` when somebody is at it for too long.
    private func patiently<Value: Sendable>(
        at subject: MoveObstacle.Subject,
        _ attempts: Int,
        holding hold: (MoveObstacle?) async throws -> Void = { _ in },
        _ body: () async throws -> Value
    ) async throws -> Value {
        var attempt = 1
        while true {
            do {
                return try await body()
            } catch let error as PostgresError where error.isContention {
                guard attempt < attempts else { throw await MoveObstacle(subject, in: pool) }
                attempt += 1
                try await Task.sleep(for: Self.pause)
                let isTold = attempt.isMultiple(of: Self.attemptsInSilence)
                try await hold(isTold ? await MoveObstacle(subject, in: pool) : nil)
            }
        }
    }

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
