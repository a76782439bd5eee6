import CarillonCore
import Postgres

/// What settlements say about devices themselves: one row for each device, the gravest word last.
struct DeviceEffects {
    private struct Key: Hashable, Comparable {
        var network: NetworkID
        var device: DeviceID

        static func < (left: Self, right: Self) -> Bool { (left.network, left.device) < (right.network, right.device) }
    }

    fileprivate struct Effect {
        var user: UserID
        var error: String?
        var state: DeviceState?
        var registeredBefore: Timestamp?
        var goneSince: Timestamp?

        /// How much it weighs against what other settlements say of the device.
        var weight: Int {
            switch state {
            case .unregistered: 3
            case .quarantined: 2
            case .active, nil: error == nil ? 0 : 1
            }
        }
    }

    private var effects: [Key: Effect] = [:]

    /// The effects of settlements; devices in lanes whose brake is on stay in use.
    init(_ settlements: [Settlement], sparing braked: Set<Lane> = []) {
        for settlement in settlements {
            let network = settlement.group.lane.networkID
            let isBraked = braked.contains(settlement.group.lane)
            for record in settlement.records {
                guard let effect = record.effect, !isBraked || !effect.putsOutOfUse else { continue }
                add(Effect(user: record.userID, effect), Key(network: network, device: record.deviceID))
            }
            guard !settlement.troubles.isEmpty else { continue }
            for target in settlement.remainders.flatMap(\.targets) {
                guard let error = settlement.troubles[target.deviceID] else { continue }
                add(Effect(user: target.userID, error: error), Key(network: network, device: target.deviceID))
            }
        }
    }

    private mutating func add(_ effect: Effect, _ key: Key) {
        if let other = effects[key], effect.weight < other.weight { return }
        effects[key] = effect
    }

    /// Applies them to devices that still belong to the user, and that were not registered again since; answers the users of those that
    /// are in use no longer.
    func write(
        at moment: PostgresTimestamp,
        _ session: borrowing PostgresSession,
        telling listeners: FeedbackListeners = .none
    ) throws -> [(network: NetworkID, user: UserID?)] {
        let rows = effects.sorted { $0.key < $1.key }
        guard !rows.isEmpty else { return [] }
        let touched = try session.query(
            """
            WITH target AS (
                SELECT n.*, d.state AS former
                FROM unnest(\(rows.map(\.key.network.rawValue)), \(rows.map(\.key.device.rawValue)),
                            \(rows.map(\.value.user.rawValue)), \(rows.map(\.value.error)),
                            \(rows.map(\.value.state?.rawValue)), \(rows.map(\.value.registeredBefore?.stored)),
                            \(rows.map(\.value.goneSince?.stored)))
                    AS n (network_id, device_id, user_id, error, state, registered_before, gone_since)
                JOIN devices d ON d.network_id = n.network_id AND d.device_id = n.device_id
                WHERE d.user_id = n.user_id AND d.state <> 'unregistered'
                    AND (n.registered_before IS NULL OR d.registered_at < n.registered_before)
                    AND (n.gone_since IS NULL OR \(sql: .obtainedAt) < n.gone_since)
                    AND (d.error IS DISTINCT FROM n.error OR n.state IS NOT NULL)
                ORDER BY d.network_id, d.device_id
                FOR NO KEY UPDATE OF d
            )
            UPDATE devices d SET error = t.error, state = coalesce(t.state, d.state),
                state_at = CASE WHEN t.state IS NULL THEN d.state_at ELSE \(moment) END
            FROM target t
            WHERE d.network_id = t.network_id AND d.device_id = t.device_id
            RETURNING d.network_id, d.device_id, d.user_id, d.provider, d.app_id, t.state, t.state <> t.former,
                      coalesce(d.error, '')
            """
        ) { row -> (network: NetworkID, user: UserID, change: DirectoryChange?)? in
            guard let state = try row.decode(5, as: String?.self).flatMap(DeviceState.init(rawValue:)) else {
                return nil
            }
            let network: NetworkID = try row.id(0)
            let isNews = try row.decode(6, as: Bool?.self) == true
            let happening = isNews ? DeviceChange.Happening(state, try row.decode(7)) : nil
            return (network, try row.id(2), try happening.flatMap { try row.change($0, in: network, at: 1) })
        }.compactMap(\.self)
        try listeners.tell(touched.compactMap { one in one.change.map { (one.network, $0) } }, session)
        return touched.map { ($0.network, $0.user) }
    }
}

extension DeviceChange.Happening {
    /// What is told of a device of which a push service said so in these words.
    fileprivate init?(_ state: DeviceState, _ words: String) {
        switch state {
        case .active: return nil
        case .quarantined: self = .quarantined(words)
        case .unregistered: self = .unregistered(words)
        }
    }
}

extension DeviceEffect {
    fileprivate var putsOutOfUse: Bool {
        switch self {
        case .unregister, .quarantine: true
        case .clearError, .noteError: false
        }
    }
}

extension DeviceEffects.Effect {
    fileprivate init(user: UserID, _ effect: DeviceEffect) {
        self.init(user: user)
        switch effect {
        case .clearError: break
        case .noteError(let error): self.error = error
        case .unregister(let moment, let since, let error):
            self.error = error
            state = .unregistered
            registeredBefore = moment
            goneSince = since
        case .quarantine(let moment, let error):
            self.error = error
            state = .quarantined
            registeredBefore = moment
        }
    }
}
