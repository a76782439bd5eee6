import Postgres

/// What of a network's load is in the database when nothing is left to do.
struct StoredEvents: Sendable {
    /// How many events there are.
    let count: Int
    /// How many notifications were delivered.
    let delivered: Int

    /// Counts.
    ///
    /// - Parameters:
    ///   - networkID: The network.
    ///   - accepted: How many events were answered with 202: each of them has to be there and done.
    ///   - refused: How many were answered with 503: the sender does not know of these, so they may be there.
    ///   - notificationsPerEvent: How many devices each event has to reach.
    ///   - cluster: The database.
    /// - Throws: ``BenchmarkFailure`` unless it is as it has to be.
    init(
        of networkID: String,
        accepted: Int,
        refused: Int,
        notificationsPerEvent: Int,
        in cluster: Cluster
    ) async throws {
        count = try await cluster.count("SELECT count(*) FROM event_keys WHERE network_id = \(networkID)")
        let done = try await cluster.count(
            "SELECT count(*) FROM events WHERE network_id = \(networkID) AND failure IS NULL"
        )
        delivered = try await cluster.count(
            "SELECT coalesce(sum(delivered), 0)::bigint FROM outcomes WHERE network_id = \(networkID)"
        )
        guard (accepted...accepted + refused).contains(count), done == count else {
            throw BenchmarkFailure("\(accepted) events were accepted, \(count) are stored, \(done) are done")
        }
        guard delivered == count * notificationsPerEvent else {
            let fates = try await Self.fates(in: networkID, cluster)
            throw BenchmarkFailure(
                "\(delivered) of \(count * notificationsPerEvent) notifications were delivered; \(fates)"
            )
        }
    }

    /// What became of recipients and devices, in words.
    private static func fates(in networkID: String, _ cluster: Cluster) async throws -> String {
        let levels = ["suppressed_network", "suppressed_user", "suppressed_channel"]
        let users = ["resolved", "notified"] + levels + ["no_device"]
        let devices = ["unregistered", "expired", "dead", "suppressed"]
        var fates: [String] = []
        for (table, names) in [("events", users), ("outcomes", devices)] {
            for name in names {
                let sum: SQL = """
                    SELECT coalesce(sum(\(identifier: name)), 0)::bigint FROM \(identifier: table)
                    WHERE network_id = \(networkID)
                    """
                fates.append("\(name) \(try await cluster.count(sum))")
            }
        }
        return fates.joined(separator: ", ")
    }
}
