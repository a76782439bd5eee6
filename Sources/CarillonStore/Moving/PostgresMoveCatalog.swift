package import CarillonCore
import Foundation
package import Postgres

/// The moves of networks, in home's table `network_moves`. Whoever works on one holds it for a while, and says every so often that they
/// still do.
package struct PostgresMoveCatalog: MoveCatalog {
    /// For how long a move is held by whoever does not say anything.
    package static let holdTime = Duration.seconds(20)
    /// For how long what a network has left behind stays, for those who have not heard of its move.
    package static let rest = Duration.seconds(600)
    private static let stepsUnderWay = NetworkMove.Step.allCases.filter(\.isUnderWay).map(\.rawValue)

    let pool: PostgresPool
    private let rest: Duration
    let holdTime: Duration

    /// The moves in the database of `pool`, which is home's; what networks leave behind stays for `rest`, and whoever works on one holds it
    /// for `holdTime`.
    package init(pool: PostgresPool, rest: Duration = rest, holdTime: Duration = holdTime) {
        self.pool = pool
        self.rest = rest
        self.holdTime = holdTime
    }

    package func begin(_ network: NetworkID, to target: PlacementName) async throws -> (
        move: NetworkMove, hasBegun: Bool
    )? {
        try await pool.write { session in
            try session.lockName(of: network)
            let place: SQL = "placed_networks WHERE network_id = \(network.rawValue) AND state <> 'making'"
            guard let source = try session.placement(place) else { return nil }
            let last = try session.move(Self.isLast(of: network))
            if last?.step.isUnderWay == true { throw MoveProblem.inProgress }
            let now = try session.moment()
            let move = NetworkMove(
                id: UUID(),
                network: network,
                source: source,
                target: target,
                step: source == target ? .done : .draining,
                startedAt: Timestamp(stored: now)
            )
            guard source != target else {
                if let last, last.step != .cancelled, last.target == target { return (last, false) }
                return (move, false)
            }
            // Of former ones only what is still to be removed is of use.
            try session.execute(
                "DELETE FROM network_moves WHERE network_id = \(network.rawValue) AND remains IS NULL"
            )
            try session.execute(
                """
                INSERT INTO network_moves (move_id, network_id, source, target, step, started_at)
                VALUES (\(move.id), \(network.rawValue), \(source.rawValue), \(target.rawValue), \(move.step.rawValue),
                        \(now))
                """
            )
            return (move, true)
        }
    }

    package func last(of network: NetworkID) async throws -> NetworkMove? {
        try await pool.withConnection { session in try session.move(Self.isLast(of: network)) }
    }

    package func cancel(_ network: NetworkID) async throws -> NetworkMove? {
        try await pool.write { session in
            guard let last = try session.move(Self.isLast(of: network) + " FOR UPDATE") else { return nil }
            switch last.step {
            case .switching, .purging, .done: throw MoveProblem.switched
            case .cancelled: return nil
            case .draining, .fenced, .copying:
                try session.execute("UPDATE network_moves SET is_cancelled = true WHERE move_id = \(last.id)")
                var cancelled = last
                cancelled.isCancelled = true
                return cancelled
            }
        }
    }

    /// The last one of a network that there is: what a former one of its id has been through is not its own.
    private static func isLast(of network: NetworkID) -> SQL {
        """
        network_id = \(network.rawValue) AND EXISTS (
            SELECT FROM placed_networks n WHERE n.network_id = network_moves.network_id AND n.state <> 'making')
        ORDER BY started_at DESC LIMIT 1
        """
    }
}

// MARK: - For the mover

extension PostgresMoveCatalog {
    /// Takes what there is to do between some placements and nobody holds; of one network only, if that is named.
    func take(_ holder: UUID, of network: NetworkID? = nil, among placements: [PlacementName]) async throws
        -> NetworkMove?
    {
        let names = placements.map(\.rawValue)
        let condition: SQL = """
            (held_until IS NULL OR held_until < now() OR holder = \(holder))
            AND (step = ANY (\(Self.stepsUnderWay)) AND source = ANY (\(names)) AND target = ANY (\(names))
                 OR remains = ANY (\(names)) AND remove_at <= now())
            AND network_id = coalesce(\(network?.rawValue), network_id)
            """
        // Where there is nothing to do nothing is written: that would have everybody look for work.
        let isAnything = try await pool.withConnection { session in try session.move("\(sql: condition) LIMIT 1") != nil
        }
        guard isAnything else { return nil }
        return try await pool.write { session in
            let move = try session.move(
                "\(sql: condition) ORDER BY remains IS NOT NULL, started_at LIMIT 1 FOR UPDATE SKIP LOCKED"
            )
            guard let move else { return nil }
            let now = try session.moment()
            try session.execute(
                """
                UPDATE network_moves SET holder = \(holder), held_until = \(now + holdTime)
                WHERE move_id = \(move.id)
                """
            )
            return move
        }
    }

    /// Whether a network is neither here nor there.
    func isUnderWay(_ network: NetworkID) async throws -> Bool {
        try await pool.execute(
            """
            SELECT FROM network_moves
            WHERE network_id = \(network.rawValue) AND step = ANY (\(Self.stepsUnderWay))
            """
        ) > 0
    }

    /// Says that a move is still held, and how far it is; the move as it is now.
    ///
    /// - Throws: ``MoveLost`` where somebody else has it.
    func hold(_ move: NetworkMove, by holder: UUID) async throws -> NetworkMove {
        try await pool.write { session in
            let now = try session.moment()
            let held = try session.execute(
                """
                UPDATE network_moves
                SET held_until = \(now + holdTime), row_count = \(move.rows), byte_count = \(move.bytes),
                    reason = \(move.reason)
                WHERE move_id = \(move.id) AND holder = \(holder)
                """
            )
            guard held == 1, let current = try session.move("move_id = \(move.id)") else { throw MoveLost() }
            return current
        }
    }

    /// Lets nobody change anything in the network any more.
    ///
    /// - Throws: ``MoveLost`` where somebody else has the move, or it is over.
    func freeze(_ move: NetworkMove, by holder: UUID) async throws {
        try await pool.write { session in
            let now = try session.moment()
            let held = try session.execute(
                """
                UPDATE network_moves SET frozen_at = coalesce(frozen_at, \(now))
                WHERE move_id = \(move.id) AND holder = \(holder) AND step = 'draining' AND thawed_at IS NULL
                """
            )
            guard held == 1 else { throw MoveLost() }
            let changed = try session.execute(
                """
                UPDATE placed_networks SET state = 'moving', changed_at = \(now)
                WHERE network_id = \(move.network.rawValue) AND placement = \(move.source.rawValue) AND state <> 'moving'
                """
            )
            if changed > 0 { try session.countPlacementChange() }
        }
    }

    /// Goes on to the next step of the way; `false` where the network is wanted back, or somebody else has the move.
    func enter(_ step: NetworkMove.Step, _ move: NetworkMove, by holder: UUID) async throws -> Bool {
        try await pool.write(
            """
            UPDATE network_moves SET step = \(step.rawValue)
            WHERE move_id = \(move.id) AND holder = \(holder) AND step = \(move.step.rawValue)
                AND NOT is_cancelled AND thawed_at IS NULL
            """
        ) > 0
    }

    /// The network is where its move has come to: in its new placement, or back in the former one. What there is of it in the other is to be
    /// removed, after a while or at once.
    ///
    /// - Returns: The move as it is now.
    /// - Throws: ``MoveLost`` where somebody else has it.
    func settle(
        _ move: NetworkMove,
        in step: NetworkMove.Step,
        by holder: UUID,
        because reason: String? = nil
    ) async throws -> NetworkMove {
        let isThere = step == .purging
        let (place, remains) = isThere ? (move.target, move.source) : (move.source, move.target)
        let wait = isThere ? rest : .zero
        return try await pool.write { session in
            let now = try session.moment()
            let settled = try session.execute(
                """
                UPDATE network_moves
                SET step = \(step.rawValue), reason = \(reason), thawed_at = \(now), remains = \(remains.rawValue),
                    remove_at = \(now + wait), row_count = \(move.rows), byte_count = \(move.bytes)
                WHERE move_id = \(move.id) AND holder = \(holder) AND thawed_at IS NULL
                """
            )
            guard settled == 1, let current = try session.move("move_id = \(move.id)") else { throw MoveLost() }
            try session.execute(
                """
                UPDATE placed_networks
                SET placement = \(place.rawValue), state = 'live', changed_at = \(now)
                WHERE network_id = \(move.network.rawValue) AND state = 'moving'
                """
            )
            try session.countPlacementChange()
            return current
        }
    }

    /// Has networks be where they are listed that are said to move, and do not; answers which.
    func mend() async throws -> [NetworkID] {
        let isStray: SQL = """
            state = 'moving' AND NOT EXISTS (
                SELECT FROM network_moves m
                WHERE m.network_id = placed_networks.network_id AND m.step = ANY (\(Self.stepsUnderWay)))
            """
        let isAny = try await pool.execute("SELECT FROM placed_networks WHERE \(sql: isStray) LIMIT 1") > 0
        guard isAny else { return [] }
        return try await pool.write { session in
            let networks = try session.query(
                "UPDATE placed_networks SET state = 'live' WHERE \(sql: isStray) RETURNING network_id"
            ) { row in try row.id(0, of: Network.self) }
            try session.countPlacementChange()
            return networks
        }
    }

    /// Lets others have what cannot be done now, unless somebody has it already.
    func leave(_ move: NetworkMove, for wait: Duration, by holder: UUID) async throws {
        _ = try await pool.write { session in
            let now = try session.moment()
            try session.execute(
                """
                UPDATE network_moves SET held_until = \(now + wait), holder = NULL
                WHERE move_id = \(move.id) AND holder = \(holder)
                """
            )
        }
    }

    /// Whether former moves of a network have left something in a placement.
    func hasRemains(of network: NetworkID, in placement: PlacementName) async throws -> Bool {
        try await pool.execute(
            """
            SELECT FROM network_moves
            WHERE network_id = \(network.rawValue) AND remains = \(placement.rawValue)
            """
        ) > 0
    }

    /// Nothing is left in a placement of what former moves have left there.
    func finishRemains(of network: NetworkID, in placement: PlacementName) async throws {
        try await pool.write { session in
            try session.execute(
                """
                UPDATE network_moves SET remains = NULL, remove_at = NULL,
                    step = CASE WHEN step = 'purging' THEN 'done' ELSE step END
                WHERE network_id = \(network.rawValue) AND remains = \(placement.rawValue)
                """
            )
            // With the network goes what it has been through.
            try session.execute(
                """
                DELETE FROM network_moves m
                WHERE m.network_id = \(network.rawValue) AND m.remains IS NULL
                    AND NOT EXISTS (SELECT FROM placed_networks n
                                    WHERE n.network_id = m.network_id AND n.state <> 'making')
                """
            )
        }
    }
}

/// Somebody else works on the move.
struct MoveLost: Error, CustomStringConvertible {
    var description: String { "somebody else goes on with the move" }
}

extension PostgresSession {
    fileprivate func move(_ condition: SQL) throws -> NetworkMove? {
        try queryFirst(
            """
            SELECT move_id, network_id, source, target, step, is_cancelled, reason, row_count, byte_count, started_at,
                   frozen_at, coalesce(thawed_at, now()), remains
            FROM network_moves WHERE \(sql: condition)
            """
        ) { row in
            guard let source = PlacementName(try row.decode(2, as: String.self)),
                let target = PlacementName(try row.decode(3, as: String.self))
            else { throw StoreError.unreadable("placement") }
            let thawedAt = try row.timestamp(11)
            var move = NetworkMove(
                id: try row.decode(0),
                network: try row.id(1),
                source: source,
                target: target,
                step: try row.choice(4),
                startedAt: try row.timestamp(9)
            )
            move.isCancelled = try row.decode(5)
            move.reason = try row.decode(6)
            move.rows = try row.decode(7)
            move.bytes = try row.decode(8)
            move.frozen = try row.timestampIfAny(10).map { thawedAt - $0 } ?? .zero
            move.remains = try row.decode(12, as: String?.self).flatMap { PlacementName($0) }
            return move
        }
    }
}
