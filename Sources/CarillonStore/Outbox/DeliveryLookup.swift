import CarillonCore
import Postgres

/// Finds the addresses of today and the settings of everybody in some groups, by one statement.
struct DeliveryLookup {
    /// A device that is still its owner's and in use.
    private struct Found {
        var target: Target
        /// What the owner set, where they set anything.
        var settings: ToggleSettings?
    }

    /// As they are stored, or were sent before: what they say of devices is looked up anew.
    private let stored: [DeliveryGroup]
    /// One for each device of each group that is no endpoint's, one group after the other.
    private var found: [Found?]
    /// Taken before anything else is read.
    private var readPoints: ReadPoints?
    private var networkToggles: [NetworkID: NetworkToggles] = [:]
    /// When events were withdrawn, and messages deleted.
    private var withdrawals: [WithdrawalKey: Timestamp] = [:]

    init(_ groups: [DeliveryGroup], _ session: borrowing PostgresSession) throws {
        stored = groups
        found = Array(repeating: nil, count: Self.toDevices(groups).reduce(0) { $0 + $1.targets.count })
        guard !groups.isEmpty else { return }
        let networks = Set(groups.map(\.lane.networkID))
        readPoints = try session.pipeline([ReadPoints.statement(for: networks)]).first.map { try ReadPoints($0) }
        try readNetworks(session)
        try readWithdrawals(session)
        try readDevices(session)
    }

    /// The groups in their order.
    var groups: [RefreshedGroup] {
        var rest = found[...]
        return stored.map { group in
            var refreshed = RefreshedGroup(
                group: group,
                gone: [],
                settings: [:],
                networkToggles: networkToggles[group.lane.networkID] ?? NetworkToggles(),
                readPoint: readPoints?[group.lane.networkID] ?? .longAgo
            )
            // Whether the endpoint of messages is still there is seen when they are read.
            guard case .devices = group.payload else { return refreshed }
            refreshed.withdrawal = withdrawal(of: group)
            refreshed.group.targets = []
            for target in group.targets {
                guard case let found?? = rest.popFirst(), found.target.address?.isSent(through: group.lane) == true
                else {
                    refreshed.gone.append(target)
                    continue
                }
                refreshed.group.targets.append(found.target)
                if let settings = found.settings { refreshed.settings[target.userID] = settings }
            }
            return refreshed
        }
    }

    private static func toDevices(_ groups: [DeliveryGroup]) -> [DeliveryGroup] { groups.filter { $0.terms == nil } }

    private mutating func readNetworks(_ session: borrowing PostgresSession) throws {
        let networks = Set(stored.map(\.lane.networkID)).sorted()
        try session.forEach(
            """
            SELECT network_id, toggles FROM networks
            WHERE network_id = ANY (\(networks.map(\.rawValue))) AND toggles IS NOT NULL
            """
        ) { row in
            networkToggles[try row.id(0)] = try ToggleDocuments.network(try row.decode(1))
        }
    }

    /// What was brought back to life since is not withdrawn, and a message that was sent again since is not deleted.
    private func withdrawal(of group: DeliveryGroup) -> Withdrawal? {
        let cause = group.cause
        if let at = withdrawals[group.eventKey], !cause.isRevived || cause.receivedAt < at { return .withdrawn }
        if let key = group.messageKey, let at = withdrawals[key], cause.receivedAt <= at { return .deleted }
        return nil
    }

    private mutating func readWithdrawals(_ session: borrowing PostgresSession) throws {
        let keys = Set(stored.flatMap { [$0.eventKey, $0.messageKey].compactMap(\.self) })
        try session.forEach(
            """
            SELECT w.network_id, w.event_id, w.withdrawn_at
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.id))) AS n (network_id, event_id)
            CROSS JOIN LATERAL (
                SELECT w.network_id, w.event_id, w.withdrawn_at FROM withdrawals w
                WHERE w.network_id = n.network_id AND w.event_id = n.event_id
                LIMIT 1
            ) AS w
            """
        ) { row in
            withdrawals[WithdrawalKey(network: try row.id(0), id: try row.decode(1))] = try row.timestamp(2)
        }
    }

    private mutating func readDevices(_ session: borrowing PostgresSession) throws {
        let groups = Self.toDevices(stored)
        guard !groups.isEmpty else { return }
        let targets = groups.flatMap(\.targets)
        let networks = groups.flatMap { Array(repeating: $0.lane.networkID.rawValue, count: $0.targets.count) }
        let channels = groups.flatMap { Array(repeating: $0.cause.channel?.id.rawValue ?? "", count: $0.targets.count) }
        var documents = ToggleDocuments()
        try session.forEach(
            """
            SELECT n.position, d.provider, d.app_id, d.address, d.environment, d.p256dh, d.auth, d.registered_at,
                   d.error IS NOT NULL, u.toggles,
                   CASE WHEN m.facts_at <= greatest(c.wiped_at, u.wiped_at) THEN NULL ELSE m.toggles END
            FROM unnest(\(networks), \(channels), \(targets.map(\.deviceID.rawValue)), \(targets.map(\.userID.rawValue)))
                WITH ORDINALITY AS n (network_id, channel_id, device_id, user_id, position)
            JOIN devices d ON d.network_id = n.network_id AND d.device_id = n.device_id AND d.user_id = n.user_id
                AND d.state = 'active'
            LEFT JOIN users u ON u.network_id = n.network_id AND u.user_id = n.user_id
            LEFT JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id
                AND m.user_id = n.user_id AND m.toggles IS NOT NULL
            LEFT JOIN channels c ON c.network_id = m.network_id AND c.channel_id = m.channel_id
            WHERE d.user_wipes = coalesce(u.wipes, 0)
            """
        ) { row in
            let position = try row.decode(0, as: Int.self) - 1
            let target = Target(
                deviceID: targets[position].deviceID,
                userID: targets[position].userID,
                .device(try row.address(at: 1), registeredAt: try row.timestamp(7), hasError: try row.decode(8))
            )
            found[position] = Found(target: target, settings: try documents.settings(user: 9, channel: 10, of: row))
        }
    }
}

extension DeliveryGroup {
    fileprivate var eventKey: WithdrawalKey { WithdrawalKey(network: lane.networkID, id: cause.eventID.uuid) }

    fileprivate var messageKey: WithdrawalKey? {
        cause.message.map { WithdrawalKey(network: lane.networkID, id: $0.uuid) }
    }
}

extension DeviceAddress {
    /// Whether this is an address of the lane's provider, and of its app.
    fileprivate func isSent(through lane: Lane) -> Bool {
        // A device may have left the server for another; every lane can send to it all the same.
        provider == lane.provider && (appID == lane.appID || provider.kind.lanes == .byHost)
    }
}

extension ToggleDocuments {
    /// Reads two columns; `nil` when nothing is set in either.
    fileprivate mutating func settings(user: Int, channel: Int, of row: borrowing Row) throws -> ToggleSettings? {
        guard !row.isNull(user) || !row.isNull(channel) else { return nil }
        return try settings(user: row.decode(user), channel: row.decode(channel))
    }
}
