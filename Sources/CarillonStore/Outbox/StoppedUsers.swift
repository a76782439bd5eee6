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
    }

    private var counts: [Key: Count] = [:]

    /// The users with several devices among those whom settlements tell of.
    init(_ settlements: [Settlement]) {
        for settlement in settlements {
            guard let devices = settlement.group.deviceCounts, !devices.isEmpty else { continue }
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
                    devices: devices
                )
                if let former = counts[key] {
                    count.stopped += former.stopped
                    if former.first < count.first { (count.first, count.level) = (former.first, former.level) }
                }
                counts[key] = count
            }
        }
    }

    /// Adds them to what is known; mostly there are none.
    func write(_ session: borrowing PostgresSession) throws {
        guard !counts.isEmpty else { return }
        let rows = counts.sorted { $0.key < $1.key }
        try session.execute(
            """
            INSERT INTO stopped_users AS s (network_id, event_id, user_id, first_device, level, stopped, devices)
            SELECT n.network_id, n.event_id, n.user_id, n.first_device, n.level, n.stopped, n.devices
            FROM unnest(\(rows.map(\.key.network.rawValue)), \(rows.map(\.key.event.uuid)), \(rows.map(\.key.user.rawValue)),
                        \(rows.map(\.value.first.rawValue)), \(rows.map(\.value.level.rawValue)),
                        \(rows.map(\.value.stopped)), \(rows.map(\.value.devices)))
                AS n (network_id, event_id, user_id, first_device, level, stopped, devices)
            ON CONFLICT (network_id, event_id, user_id) DO UPDATE
            SET stopped = s.stopped + EXCLUDED.stopped,
                level = CASE WHEN EXCLUDED.first_device < s.first_device THEN EXCLUDED.level ELSE s.level END,
                first_device = least(s.first_device, EXCLUDED.first_device)
            """
        )
    }
}

extension Settlement {
    /// How many devices a level stopped that were the only one of their user; `nil` when that is not known.
    func soleDevicesStopped(by level: ToggleLevel) -> Int? {
        let stopped = records.filter { $0.state == .suppressed }
        guard !stopped.isEmpty else { return 0 }
        guard let devices = group.deviceCounts else { return nil }
        return stopped.count { devices[$0.userID] == nil && $0.suppressingLevel == level }
    }
}

extension DeviceRecord {
    /// The level that stopped it: `reason` is the level, a colon and the field.
    var suppressingLevel: ToggleLevel {
        let level = reason?.prefix { $0 != ":" } ?? ""
        return ToggleLevel(rawValue: String(level)) ?? .user
    }
}
