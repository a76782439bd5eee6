import CarillonCore
import Postgres

/// Keeps count of users whose devices toggles stopped after the expansion: those all of whose devices were stopped count as
/// suppressed. Of a user with one device the outcome log's own columns tell; those with several have a row each.
struct StoppedUsers {
    private struct Key: Hashable, Comparable {
        var network: NetworkID
        var event: EventID
        var user: UserID

        static func < (left: Self, right: Self) -> Bool {
            (left.network, left.event, left.user) < (right.network, right.event, right.user)
        }
    }

    private struct Count {
        var first: DeviceID
        var level: ToggleLevel
        var stopped: Int
        let devices: Int
        var providers: [ProviderName]
    }

    private var causes: [EventID: DeliveryCause] = [:]
    private var counts: [Key: Count] = [:]

    /// The users with several devices among those whom settlements tell of.
    init(_ settlements: [Settlement]) {
        for settlement in settlements {
            guard let devices = settlement.group.knownDeviceCounts, !devices.isEmpty else { continue }
            for record in settlement.records where record.state == .suppressed {
                guard let devices = devices[record.userID] else { continue }
                let key = Key(
                    network: settlement.group.lane.networkID,
                    event: settlement.group.cause.eventID,
                    user: record.userID
                )
                var count = Count(
                    first: record.deviceID,
                    level: record.suppressingLevel,
                    stopped: 1,
                    devices: devices,
                    providers: [settlement.group.lane.provider]
                )
                causes[key.event] = settlement.group.cause
                if let former = counts[key] {
                    count.stopped += former.stopped
                    count.providers += former.providers
                    if former.first < count.first { (count.first, count.level) = (former.first, former.level) }
                }
                counts[key] = count
            }
        }
    }

    /// Adds them to what is known, mostly nobody; answers those all of whose devices are stopped now.
    func write(_ session: borrowing PostgresSession) throws -> [StoppedUser] {
        guard !counts.isEmpty else { return [] }
        let rows = counts.sorted { $0.key < $1.key }
        let providers = rows.map { $0.value.providers.map(\.rawValue).joined(separator: " ") }
        let written = try session.query(
            """
            INSERT INTO stopped_users AS s (network_id, event_id, user_id, first_device, level, stopped, devices, providers)
            SELECT n.network_id, n.event_id, n.user_id, n.first_device, n.level, n.stopped, n.devices, n.providers
            FROM unnest(\(rows.map(\.key.network.rawValue)), \(rows.map(\.key.event.uuid)), \(rows.map(\.key.user.rawValue)),
                        \(rows.map(\.value.first.rawValue)), \(rows.map(\.value.level.rawValue)),
                        \(rows.map(\.value.stopped)), \(rows.map(\.value.devices)), \(providers))
                AS n (network_id, event_id, user_id, first_device, level, stopped, devices, providers)
            ON CONFLICT (network_id, event_id, user_id) DO UPDATE
            SET stopped = s.stopped + EXCLUDED.stopped,
                providers = s.providers || ' ' || EXCLUDED.providers,
                level = CASE WHEN EXCLUDED.first_device < s.first_device THEN EXCLUDED.level ELSE s.level END,
                first_device = least(s.first_device, EXCLUDED.first_device)
            RETURNING s.network_id, s.event_id, s.level, s.providers, s.stopped = s.devices
            """
        ) { row -> StoppedUser? in
            guard try row.decode(4, as: Bool.self), let cause = causes[try row.eventID(1)] else { return nil }
            let providers = try row.decode(3, as: String.self).split(separator: " ")
            let names = providers.compactMap { ProviderName(rawValue: String($0)) }
            return StoppedUser(
                networkID: try row.id(0),
                cause: cause,
                level: try row.choice(2),
                devices: Dictionary(grouping: names, by: \.self).mapValues(\.count)
            )
        }
        return written.compactMap(\.self)
    }
}

extension Settlement {
    /// How many devices a level stopped that were the only one of their user; `nil` when that is not known.
    func soleDevicesStopped(by level: ToggleLevel) -> Int? {
        let stopped = records.filter { $0.state == .suppressed }
        guard !stopped.isEmpty else { return 0 }
        guard let devices = group.knownDeviceCounts else { return nil }
        return stopped.count { devices[$0.userID] == nil && $0.suppressingLevel == level }
    }
}
