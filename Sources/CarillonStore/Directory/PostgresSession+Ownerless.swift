import CarillonCore
import Postgres

extension PostgresSession {
    /// Among how many of those that came last with a notification those are looked for to which nothing was ever delivered: where
    /// somebody makes addresses up faster than they are used, the last are theirs.
    private static let lookback = 5_000

    /// Makes room for more of nobody's devices, where a network has about as many as it may have: of those that came with a
    /// notification as many go as it takes, the longest unseen first, and then those to which nothing was ever delivered. Of the former
    /// those may go that were not named for `age`, of the latter those that were not for `patience`.
    ///
    /// - Throws: ``LimitReached`` when there are too few of those; the transaction has to end then.
    func makeRoom(
        for hashes: [[UInt8]],
        upTo limit: Int,
        in network: NetworkID,
        unseenFor age: Duration,
        unreachedFor patience: Duration
    ) throws {
        let missing = try missingRoom(for: hashes, upTo: limit, in: network)
        guard missing > 0 else { return }
        let unseen: SQL = """
            SELECT device_id FROM devices
            WHERE network_id = \(network.rawValue) AND transient
                AND seen_at <= now() - \(age.components.seconds) * interval '1 second'
            ORDER BY seen_at LIMIT \(missing)
            FOR UPDATE SKIP LOCKED
            """
        let forgotten = try forgetTransient(unseen, in: network)
        guard forgotten < missing else { return }
        let isUnreached: SQL = "(state = 'quarantined' OR error = \(Device.firstError))"
        let unreached: SQL = """
            SELECT device_id FROM (
                SELECT device_id, state, error, seen_at FROM devices
                WHERE network_id = \(network.rawValue) AND transient
                    AND seen_at <= now() - \(patience.components.seconds) * interval '1 second'
                ORDER BY seen_at DESC LIMIT \(Self.lookback)
            ) AS latest
            WHERE \(sql: isUnreached) ORDER BY seen_at LIMIT \(missing - forgotten)
            """
        let further = try forgetTransient(unreached, in: network, if: isUnreached)
        guard forgotten + further >= missing else { throw LimitReached(.ownerlessDevices, limit) }
    }

    private func forgetTransient(_ ids: SQL, in network: NetworkID, if condition: SQL = "true") throws -> Int {
        try execute(
            .unprepared(
                """
                DELETE FROM devices
                WHERE network_id = \(network.rawValue) AND device_id = ANY (ARRAY(\(sql: ids)))
                    AND transient AND \(sql: condition)
                """
            )
        )
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

/// Which of nobody's devices are counted to tell whether there may be one more: all, or of many an even share.
struct OwnerlessShare: Hashable {
    /// The most that are counted.
    static let largest = 8_192
    private static let prefixes = 65_536

    let first: [UInt8]
    /// What is greater than all of its hashes.
    let end: [UInt8]
    /// How many there may be in it.
    let limit: Int

    init(of limit: Int, around hash: [UInt8]) {
        var shares = 1
        while limit / shares > Self.largest, shares < Self.prefixes { shares *= 2 }
        let width = Self.prefixes / shares
        let prefix = hash.prefix(2).reduce(0) { $0 << 8 | Int($1) }
        let start = prefix / width * width
        first = [UInt8(start >> 8), UInt8(start & 0xFF)]
        let next = start + width
        // No hash is longer than 32 bytes.
        end = next < Self.prefixes ? [UInt8(next >> 8), UInt8(next & 0xFF)] : [UInt8](repeating: 0xFF, count: 33)
        self.limit = (limit + shares - 1) / shares
    }
}
