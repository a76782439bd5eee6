import CarillonCore
import Foundation
import Postgres

extension PostgresDeliveryQueue {
    /// From how many rows on a statement is planned with its values in sight.
    private static let plannedEachTime = 2000

    /// Finds the addresses of today and the settings of everybody in these groups.
    static func lookUp(
        _ deliveries: [StoredDelivery],
        _ session: borrowing PostgresSession
    ) throws -> [RefreshedGroup] {
        guard !deliveries.isEmpty else { return [] }
        let networks = Set(deliveries.map(\.group.lane.networkID)).sorted()
        let networkToggles = try networkToggles(of: networks, session)
        let devices = try devices(of: deliveries, session)
        var documents = ToggleDocuments()
        let userToggles = try userToggles(of: deliveries, &documents, session)
        let channelToggles = try channelToggles(of: deliveries, &documents, session)
        return deliveries.map { delivery in
            let network = delivery.group.lane.networkID
            let channel = delivery.group.cause.channel.id
            var refreshed = RefreshedGroup(
                group: delivery.group,
                gone: [],
                settings: [:],
                networkToggles: networkToggles[network] ?? NetworkToggles()
            )
            for owner in delivery.devices {
                guard let target = devices[DeviceKey(network: network, device: owner.device)],
                    target.userID == owner.user, target.address.provider == delivery.group.lane.provider,
                    target.address.appID == delivery.group.lane.appID
                else {
                    refreshed.gone.append(owner.targetWithoutAddress)
                    continue
                }
                refreshed.group.targets.append(target)
                let user = userToggles[UserKey(network: network, user: owner.user)]
                let ownChannel = channelToggles[MemberKey(network: network, channel: channel, user: owner.user)]
                guard user != nil || ownChannel != nil else { continue }
                refreshed.settings[owner.user] = ToggleSettings(
                    user: user ?? UserToggles(),
                    channel: ownChannel ?? ChannelToggles()
                )
            }
            return refreshed
        }
    }

    private struct DeviceKey: Hashable {
        var network: NetworkID
        var device: DeviceID
    }

    private static func networkToggles(
        of networks: [NetworkID],
        _ session: borrowing PostgresSession
    ) throws -> [NetworkID: NetworkToggles] {
        var toggles: [NetworkID: NetworkToggles] = [:]
        try session.forEach(
            """
            SELECT network_id, toggles FROM networks
            WHERE network_id = ANY (\(networks.map(\.rawValue))) AND toggles IS NOT NULL
            """
        ) { row in
            toggles[try row.id(0)] = try ToggleDocuments.network(try row.decode(1))
        }
        return toggles
    }

    /// The active devices among those that are meant.
    private static func devices(
        of deliveries: [StoredDelivery],
        _ session: borrowing PostgresSession
    ) throws -> [DeviceKey: Target] {
        let keys = Set(
            deliveries.flatMap { delivery in
                delivery.devices.map { DeviceKey(network: delivery.group.lane.networkID, device: $0.device) }
            }
        )
        var targets = [DeviceKey: Target](minimumCapacity: keys.count)
        let sql: SQL = """
            SELECT d.network_id, d.device_id, d.user_id, d.provider, d.app_id, d.address, d.environment, d.p256dh,
                   d.auth, d.registered_at, d.error IS NOT NULL
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.device.rawValue))) AS n (network_id, device_id)
            JOIN devices d ON d.network_id = n.network_id AND d.device_id = n.device_id
            WHERE d.state = 'active'
            """
        try session.forEach(keys.count < plannedEachTime ? sql : .unprepared(sql)) { row in
            let key = DeviceKey(network: try row.id(0), device: try row.id(1))
            targets[key] = Target(
                deviceID: key.device,
                userID: try row.id(2),
                address: try row.address(at: 3),
                registeredAt: try row.timestamp(9),
                hasError: try row.decode(10)
            )
        }
        return targets
    }

    private static func userToggles(
        of deliveries: [StoredDelivery],
        _ documents: inout ToggleDocuments,
        _ session: borrowing PostgresSession
    ) throws -> [UserKey: UserToggles] {
        let keys = Set(
            deliveries.flatMap { delivery in
                delivery.devices.map { UserKey(network: delivery.group.lane.networkID, user: $0.user) }
            }
        )
        var toggles: [UserKey: UserToggles] = [:]
        let sql: SQL = """
            SELECT u.network_id, u.user_id, u.toggles
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.user.rawValue))) AS n (network_id, user_id)
            JOIN users u ON u.network_id = n.network_id AND u.user_id = n.user_id
            WHERE u.toggles IS NOT NULL
            """
        try session.forEach(keys.count < plannedEachTime ? sql : .unprepared(sql)) { row in
            toggles[UserKey(network: try row.id(0), user: try row.id(1))] = try documents.user(try row.decode(2))
        }
        return toggles
    }

    private static func channelToggles(
        of deliveries: [StoredDelivery],
        _ documents: inout ToggleDocuments,
        _ session: borrowing PostgresSession
    ) throws -> [MemberKey: ChannelToggles] {
        let keys = Set(
            deliveries.flatMap { delivery in
                let group = delivery.group
                return delivery.devices.map {
                    MemberKey(network: group.lane.networkID, channel: group.cause.channel.id, user: $0.user)
                }
            }
        )
        var toggles: [MemberKey: ChannelToggles] = [:]
        let sql: SQL = """
            SELECT m.network_id, m.channel_id, m.user_id, m.toggles
            FROM unnest(\(keys.map(\.network.rawValue)), \(keys.map(\.channel.rawValue)), \(keys.map(\.user.rawValue)))
                AS n (network_id, channel_id, user_id)
            JOIN members m ON m.network_id = n.network_id AND m.channel_id = n.channel_id AND m.user_id = n.user_id
            WHERE m.toggles IS NOT NULL
            """
        try session.forEach(keys.count < plannedEachTime ? sql : .unprepared(sql)) { row in
            let key = MemberKey(network: try row.id(0), channel: try row.id(1), user: try row.id(2))
            toggles[key] = try documents.channel(try row.decode(3))
        }
        return toggles
    }
}
