import CarillonCore
import Postgres

extension DeviceRegistration {
    /// Refuses what a user may not register, and makes room for the rest among what is unregistered.
    ///
    /// Nobody else registers a device for the same user meanwhile.
    func checkUser(
        _ former: [FormerDevice],
        telling listeners: FeedbackListeners,
        _ session: borrowing PostgresSession
    ) throws {
        guard let limits = try session.network(network)?.limits else { throw try session.absence(of: network) }
        let limit = limits[.devicesPerUser]
        for device in devices {
            let isTaken = former.contains { row in
                row.id == device.id && row.user != device.userID && row.state == .active && row.isOfTheLiving
                    && (row.hash == nil || row.hash != device.address.uniqueHash) && !takesOver(from: row.user)
            }
            guard !isTaken else { throw DeviceTaken() }
            // A limit of each user's: nobody is no user.
            guard !device.userID.isNobody else {
                // Who gives up a device makes no more of them.
                if former.isEmpty, let hash = device.address.uniqueHash {
                    // What somebody registers goes before what merely came with a notification, however lately.
                    try session.makeRoom(
                        for: [hash],
                        upTo: limits[.ownerlessDevices],
                        in: network,
                        unseenFor: .zero,
                        unreachedFor: .zero
                    )
                }
                continue
            }
            let isCounted = former.contains {
                $0.user == device.userID && $0.state != .unregistered && $0.isOfTheLiving
            }
            let replaced = former.map(\.id.rawValue)
            let (inUse, all) = try count(of: device.userID, without: replaced, upTo: limit, session)
            guard isCounted || inUse < limit else { throw LimitReached(.devicesPerUser, limit) }
            guard all >= limit else { continue }
            let forgotten = try forgetUnregistered(
                of: device.userID,
                without: replaced,
                but: max(0, limit - 1 - inUse),
                session
            )
            try listeners.tell(forgotten, in: network, session)
        }
    }

    /// Whether webhooks are to be sent to servers to which none are yet.
    func addsWebhookHosts(_ session: borrowing PostgresSession) throws -> Bool {
        let hosts = Set(devices.map(\.address).filter { $0.provider == .webhook }.map(\.appID))
        guard !hosts.isEmpty else { return false }
        return try session.queryFirst(
            """
            SELECT EXISTS (SELECT FROM unnest(\(hosts.sorted())) AS n (host)
                           WHERE NOT EXISTS (SELECT FROM devices d
                                             WHERE d.network_id = \(network.rawValue) AND d.provider = 'webhook'
                                                 AND d.app_id = n.host))
            """
        ) { row in try row.decode(0, as: Bool.self) } ?? false
    }

    /// Refuses what has been written when the network's webhooks name too many servers now: walks from one server to the
    /// next, however many devices each has.
    func checkWebhookHosts(_ session: borrowing PostgresSession) throws {
        guard let limit = try session.network(network)?.limits[.webhookHosts] else {
            throw try session.absence(of: network)
        }
        let areWebhooks: SQL = "t.network_id = \(network.rawValue) AND t.provider = 'webhook'"
        let count: Int? = try session.first(
            """
            WITH RECURSIVE walk AS (\(sql: .walk(over: ["app_id"], in: "devices", where: areWebhooks)))
            SELECT count(*) FROM (SELECT FROM walk LIMIT \(limit + 1)) AS counted
            """
        )
        guard count ?? 0 <= limit else { throw LimitReached(.webhookHosts, limit) }
    }

    /// How many devices a user has in use, and how many altogether; each counted up to a number.
    private func count(
        of user: UserID,
        without replaced: [String],
        upTo limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> (inUse: Int, all: Int) {
        let counts = try session.queryFirst(
            """
            SELECT (SELECT count(*) FROM (SELECT FROM devices d
                                          WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                                              AND device_id <> ALL (\(replaced)) AND state <> 'unregistered'
                                              AND \(sql: .isOfTheLiving)
                                          LIMIT \(limit)) AS used),
                   (SELECT count(*) FROM (SELECT FROM devices
                                          WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                                              AND device_id <> ALL (\(replaced))
                                          LIMIT \(limit)) AS known)
            """
        ) { row in (inUse: try row.decode(0, as: Int64.self), all: try row.decode(1, as: Int64.self)) }
        return (Int(counts?.inUse ?? 0), Int(counts?.all ?? 0))
    }

    /// Forgets a user's unregistered devices but for the latest.
    private func forgetUnregistered(
        of user: UserID,
        without replaced: [String],
        but kept: Int,
        _ session: borrowing PostgresSession
    ) throws -> [DirectoryChange] {
        try session.query(
            """
            DELETE FROM devices
            WHERE network_id = \(network.rawValue)
                AND device_id IN (SELECT device_id FROM devices
                                  WHERE network_id = \(network.rawValue) AND user_id = \(user.rawValue)
                                      AND device_id <> ALL (\(replaced)) AND state = 'unregistered'
                                  ORDER BY state_at DESC NULLS LAST OFFSET \(kept)
                                  FOR UPDATE SKIP LOCKED)
            RETURNING device_id, user_id, provider, app_id
            """
        ) { row in try row.change(.deleted(.displaced), in: network) }.compactMap(\.self)
    }
}
