import CarillonCore
import Postgres

extension PostgresSession {
    /// Makes room for more of nobody's devices, where a network has about as many as it may have: of those that came with a
    /// notification as many go as it takes, the longest unseen first.
    ///
    /// - Parameters:
    ///   - hashes: Of the addresses of the new ones.
    ///   - limit: How many there may be.
    ///   - network: The network.
    ///   - age: For how long those were not named that may go.
    /// - Throws: ``LimitReached`` when there are too few of those; the transaction has to end then.
    func makeRoom(for hashes: [[UInt8]], upTo limit: Int, in network: NetworkID, unseenFor age: Duration) throws {
        let missing = try missingRoom(for: hashes, upTo: limit, in: network)
        guard missing > 0 else { return }
        let forgotten = try execute(
            .unprepared(
                """
                DELETE FROM devices
                WHERE network_id = \(network.rawValue)
                    AND device_id = ANY (ARRAY(SELECT device_id FROM devices
                                               WHERE network_id = \(network.rawValue) AND transient
                                                   AND seen_at <= now() - \(age.components.seconds) * interval '1 second'
                                               ORDER BY seen_at LIMIT \(missing)
                                               FOR UPDATE SKIP LOCKED))
                """
            )
        )
        guard forgotten >= missing else { throw LimitReached(.ownerlessDevices, limit) }
    }

    /// How many devices too many there would be.
    ///
    /// The hashes of their addresses are spread evenly: of many devices those are counted that share the beginning of theirs with
    /// a new one, and compared with that share of the limit, so that no count looks at more than ``OwnerlessShare/largest``. Who has
    /// more than the limit need not make room but for what is new.
    func missingRoom(for hashes: [[UInt8]], upTo limit: Int, in network: NetworkID) throws -> Int {
        let shares = Dictionary(grouping: hashes) { OwnerlessShare(of: limit, around: $0) }.mapValues(\.count)
        var missing = 0
        for (share, new) in shares {
            // Planned anew, as in a small table any index that names the network seems as good.
            let count = try queryFirst(
                .unprepared(
                    """
                    SELECT count(*) FROM (SELECT FROM devices
                                          WHERE network_id = \(network.rawValue) AND user_id = ''
                                              AND (transient OR state <> 'unregistered')
                                              AND address_hash >= \(share.first) AND address_hash < \(share.end)
                                          LIMIT \(share.limit)) AS counted
                    """
                )
            ) { row in try row.decode(0, as: Int64.self) }
            missing += max(0, Int(count ?? 0) + new - share.limit)
        }
        return missing
    }
}
