import CarillonCore
import Postgres

/// The networks that were deleted and of which something is left, in table `former_networks`.
///
/// An id has a row in `networks`, or one here, or neither: whoever makes a network, deletes one or takes in what is nobody's
/// holds the lock of its name. Whatever is purged is purged under a locked row here, so that it is never a living network's.
package struct FormerNetworks {
    /// For how long a name stays taken after the deletion: until what other replicas remember of the network, and what they
    /// have in memory for it, has been forgotten or written.
    static let usualRest = Duration.seconds(3)
    /// For how long after the deletion transactions are waited for that may have begun before it: none of ours takes as long.
    fileprivate static let longestTransaction = Duration.seconds(60)
    /// For how long a step waits for rows that somebody else holds.
    private static let lockWait = Duration.milliseconds(300)
    /// For how long one sweep purges; the next goes on.
    private static let share = Duration.seconds(30)

    let pool: PostgresPool
    package var rest = Self.usualRest

    /// Goes on with what was begun, the longest deleted first. What fails with one does not keep the others from being purged, and
    /// what somebody holds is left for another time.
    /// - Returns: Whether the time was enough for all of them.
    /// - Throws: The first error, when all have been tried.
    @discardableResult
    func sweep(_ chores: Chores = Chores()) async throws -> Bool {
        let networks = try await pool.query(
            """
            SELECT f.network_id FROM former_networks f
            WHERE NOT EXISTS (SELECT FROM networks n WHERE n.network_id = f.network_id)
            ORDER BY f.deleted_at
            """
        ) { row in try row.id(0, of: Network.self) }
        var failure: (any Error)?
        let end = ContinuousClock.now + Self.share
        for network in networks where .now < end {
            let error = await chores.attempt("purge of \(network)") {
                do {
                    try await purge(network, until: end)
                } catch let error as PostgresError where error.sqlState == .lockNotAvailable {}
            }
            failure = failure ?? error
        }
        if let failure { throw failure }
        return .now < end
    }

    /// Whether a network is among the former ones, as it is until nothing is left of it.
    func isAnythingKnown(of network: NetworkID) async throws -> Bool {
        try await pool.execute("SELECT FROM former_networks WHERE network_id = \(network.rawValue)") > 0
    }

    /// Removes what is left of a former network, in small transactions, and at the very end that it is one. What somebody else is at
    /// is left to them.
    func purge(_ network: NetworkID, until end: ContinuousClock.Instant? = nil) async throws {
        for statement in NetworkPurge.statements(of: network) {
            var count: Int? = 1
            while let found = count, found > 0 {
                if let end, .now >= end { return }
                count = try await pool.write(lockWait: Self.lockWait) { session -> Int? in
                    // One that has left may have its fence still.
                    try session.passMoveFence()
                    return try session.holdFormerNetwork(network) ? session.execute(statement) : nil
                }
            }
            guard count != nil else { return }
        }
        try await pool.write { session in
            // One after the other: not every server runs a DELETE that asks all of it.
            guard try session.hasSettled(network, after: rest) == true, try !session.isAnythingLeft(of: network) else {
                return
            }
            try session.execute("DELETE FROM former_networks WHERE network_id = \(network.rawValue)")
        }
    }
}

extension PostgresSession {
    /// Has all others wait who make, delete or purge a network of this name.
    func lockName(of network: NetworkID) throws {
        try lock("name", in: network)
    }

    /// Frees a name for a new network; `false` when something of a former one is left, which is then known to be purged. The caller
    /// holds the name's lock, and knows that there is no such network.
    func freeName(of network: NetworkID, after rest: Duration) throws -> Bool {
        guard try hasSettled(network, after: rest) != false else { return false }
        guard try !isAnythingLeft(of: network) else {
            try noteFormerNetwork(network)
            return false
        }
        try execute("DELETE FROM former_networks WHERE network_id = \(network.rawValue)")
        return true
    }

    /// Whether the row of a former network, which is held from now on, can go if nothing is left; `nil` where there is none. Nobody can have
    /// anything of the network in memory then, or in a transaction that began before the deletion: what those have written is seen by the
    /// next statement.
    fileprivate func hasSettled(_ network: NetworkID, after rest: Duration) throws -> Bool? {
        let longest = FormerNetworks.longestTransaction.wholeMilliseconds
        return try first(
            """
            SELECT deleted_at <= now() - \(rest.wholeMilliseconds) * interval '1 millisecond'
                AND (NOT began_before(deleted_in) OR deleted_at <= now() - \(longest) * interval '1 millisecond')
            FROM former_networks WHERE network_id = \(network.rawValue) FOR UPDATE
            """
        )
    }

    fileprivate func isAnythingLeft(of network: NetworkID) throws -> Bool {
        try first(.unprepared("SELECT \(sql: NetworkPurge.isAnythingLeft(of: network))"), as: Bool.self) ?? true
    }

    /// Notes that what there is under a name is to be purged, unless there is such a network. The caller holds the name's lock.
    func noteFormerNetwork(_ network: NetworkID) throws {
        guard try execute("SELECT FROM networks WHERE network_id = \(network.rawValue)") == 0 else { return }
        try execute(
            "INSERT INTO former_networks (network_id) VALUES (\(network.rawValue)) ON CONFLICT (network_id) DO NOTHING"
        )
    }

    /// Holds the row of a former network to the end of the transaction; `false` when there is none, or somebody else holds it.
    fileprivate func holdFormerNetwork(_ network: NetworkID) throws -> Bool {
        try execute(
            """
            SELECT FROM former_networks f
            WHERE f.network_id = \(network.rawValue)
                AND NOT EXISTS (SELECT FROM networks n WHERE n.network_id = f.network_id)
            FOR UPDATE OF f SKIP LOCKED
            """
        ) == 1
    }
}
