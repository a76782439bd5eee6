package import CarillonCore
package import Postgres

extension NetworkMover {
    /// About how many bytes of rows are copied at a time.
    private static let batchBytes = 1 << 20
    private static let mostRows = 2_000
    /// So many rows of a table are read before it is known how large they are.
    private static let firstRows = 40

    /// Copies what nobody changes any more, and looks whether it has all arrived.
    func copy(_ move: inout NetworkMove) async throws {
        let (source, target) = (try fence(move.network, in: move.source), try fence(move.network, in: move.target))
        (move.rows, move.bytes) = (0, 0)
        if try await target.isArriving(otherwiseThan: move) { try await remove(move, from: move.target) }
        // Before any row that has such a number: one without its sequence is a sign of a copy that lacks them.
        try await raiseSequences(from: source, to: target)
        for table in try await source.tables() {
            try await copy(table, from: source, to: target, &move)
            if move.isCancelled { return }
            // The network's row is the first: behind it nobody removes what is left of the fence of a former move.
            if table.name == "networks" { try await target.raise(holding: holding(move)) }
        }
        try await raiseChanges(from: source, to: target, move)
        for table in try await source.tables() {
            let counts = try await whileHeld(move) { (try await source.count(table), try await target.count(table)) }
            guard counts.0 == counts.1 else {
                throw MoveRefused(
                    reason: "of \(counts.0) rows of table \(table.name), \(counts.1) are in \(move.target)"
                )
            }
        }
        try await enter(.switching, &move)
    }

    private func copy(
        _ table: MovedTable,
        from source: MoveFence,
        to target: MoveFence,
        _ move: inout NetworkMove
    ) async throws {
        var last: [String]?
        var limit = Self.firstRows
        var toldAt = ContinuousClock.now
        while true {
            let page = try await source.pool.withConnection { [last, limit] session in
                try table.page(of: source.network, after: last, limit: limit, session)
            }
            let count = page.rows.count
            guard count > 0 else { return }
            try await target.insert(page, of: table, by: move)
            move.rows += Int64(count)
            move.bytes += Int64(page.bytes)
            if .now - toldAt > .milliseconds(500) {
                move = try await catalog.hold(move, by: holder)
                toldAt = .now
            }
            guard !move.isCancelled, count == limit, !table.key.isEmpty else { return }
            last = page.last
            limit = max(1, min(Self.mostRows, Self.batchBytes * count / max(1, page.bytes)))
        }
    }

    /// Has the target's numbers go on behind the source's, which are not given out any more for the network.
    private func raiseSequences(from source: MoveFence, to target: MoveFence) async throws {
        let numbers = try await source.pool.withConnection { session in
            try SQL.sequences.map { try session.lastNumber(of: $0) }
        }
        for (sequence, number) in zip(SQL.sequences, numbers) {
            try await target.pool.write { session in try session.raise(sequence, to: number) }
        }
    }

    /// Has everybody who remembers anything of the network read it anew.
    private func raiseChanges(from source: MoveFence, to target: MoveFence, _ move: NetworkMove) async throws {
        let network = source.network
        let reading: SQL = "SELECT seq FROM change_counters WHERE network_id = \(network.rawValue) AND slot = 0"
        let changes = try await source.pool.first(reading, as: Int64.self) ?? 0
        try await target.asMover { session in
            try session.holdArrival(by: move, isFirst: false)
            let now = try session.moment()
            try session.execute(
                """
                INSERT INTO change_counters AS c (network_id, slot, seq, changed_at)
                VALUES (\(network.rawValue), 0, \(changes), \(now))
                ON CONFLICT (network_id, slot) DO UPDATE SET seq = greatest(c.seq, EXCLUDED.seq)
                """
            )
            try session.recordChange(of: nil, in: network)
            try session.countDirectory(of: network)
        }
    }

    /// How many rows of a network each table has.
    package static func counts(of network: NetworkID, in pool: PostgresPool) async throws -> [(
        table: String, rows: Int64
    )] {
        let fence = MoveFence(network: network, pool: pool)
        var counts: [(table: String, rows: Int64)] = []
        for table in try await fence.tables() { counts.append((table.name, try await fence.count(table))) }
        return counts
    }
}

extension MoveFence {
    /// Writes what a move brings.
    ///
    /// - Throws: ``MoveLost`` where it brings nothing any more.
    func insert(_ page: MovedRows, of table: MovedTable, by move: NetworkMove) async throws {
        try await asMover { session in
            try session.holdArrival(by: move, isFirst: table.name == "networks")
            try table.insert(page, of: network, session)
        }
    }

    fileprivate func count(_ table: MovedTable) async throws -> Int64 {
        let options = TransactionOptions(readOnly: true, statementTimeout: .zero)
        return try await pool.withTransaction(options) { session in try table.count(of: network, session) }
    }
}

extension PostgresSession {
    /// Makes sure that a network is arriving by a move, to the end of the transaction: nothing is added to one that is here, or that another
    /// move brings.
    fileprivate func holdArrival(by move: NetworkMove, isFirst: Bool) throws {
        let network = move.network.rawValue
        if isFirst { try lockName(of: move.network) }
        let gate = try moveGate(of: move.network, isHeld: true)
        if gate == nil, isFirst {
            let isFormer = try execute("SELECT FROM former_networks WHERE network_id = \(network)") > 0
            if isFormer { throw MoveLost() }
            try execute(
                """
                INSERT INTO arrivals (network_id, move_id) VALUES (\(network), \(move.id))
                ON CONFLICT (network_id) DO UPDATE SET move_id = EXCLUDED.move_id
                """
            )
            return
        }
        let isExpected =
            try execute("SELECT FROM arrivals WHERE network_id = \(network) AND move_id = \(move.id)") > 0
        guard gate == MoveGate.arriving.rawValue, isExpected else { throw MoveLost() }
    }

    fileprivate func lastNumber(of sequence: String) throws -> Int64 {
        try first(.unprepared("SELECT last_value FROM \(identifier: sequence)"), as: Int64.self) ?? 1
    }

    /// Has a sequence go on behind a number. Changing its definition, to what it is, has all others wait who take one meanwhile.
    fileprivate func raise(_ sequence: String, to number: Int64) throws {
        guard try lastNumber(of: sequence) <= number else { return }
        try execute(.unprepared("ALTER SEQUENCE \(identifier: sequence) NO CYCLE"))
        let reading: SQL = "SELECT seqincrement FROM pg_sequence WHERE seqrelid = to_regclass(\(sequence)::text)"
        let next = max(try lastNumber(of: sequence), number) + (try first(reading, as: Int64.self) ?? 1)
        try execute("SELECT setval(to_regclass(\(sequence)::text), \(next))")
    }
}
