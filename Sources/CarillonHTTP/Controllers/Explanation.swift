import CarillonCore

/// What would happen to one user by an event.
struct Explanation {
    /// What the verdict depends on, in the order in which it is asked.
    enum Stage: String {
        case actor
        case notMember
        case network
        case user
        case channel
        case noDevice

        init(_ level: ToggleLevel) {
            switch level {
            case .network: self = .network
            case .user: self = .user
            case .channel: self = .channel
            }
        }
    }

    /// What one level says by itself.
    struct Level {
        var level: ToggleLevel
        var allows: Bool
        var updatedAt: Timestamp?
    }

    /// The first that forbids; `nil` when the user would be notified.
    var decidedBy: Stage?
    /// The field that decided.
    var reason: ToggleReason?
    /// All three levels.
    var levels: [Level]
    /// What would be shown; `nil` for an event that nobody is notified of.
    var notification: Notification?
    /// Where it would be shown.
    var devices: [Device]

    /// The explanation as the API shows it.
    var json: JSONValue {
        [
            "verdict": decidedBy == nil ? "deliver" : "suppress",
            "decidedBy": JSONValue(decidedBy?.rawValue),
            "reason": JSONValue(reason?.description),
            "levels": .array(
                levels.map {
                    [
                        "level": .string($0.level.rawValue),
                        "allows": .bool($0.allows),
                        "updatedAt": JSONValue($0.updatedAt),
                    ]
                }
            ),
            "notification": notification.map {
                ["locale": .string($0.locale), "title": .string($0.title), "body": .string($0.body)]
            } ?? .null,
            "devices": .array(
                devices.map {
                    ["id": .string($0.id.rawValue), "provider": .string($0.address.provider.rawValue)]
                }
            ),
        ]
    }
}
