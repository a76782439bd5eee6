/// What happened to one device or one subscription, for endpoints that ask to be told (FACES section C1).
package enum DirectoryChange: Sendable, Equatable {
    case device(DeviceChange)
    case subscription(SubscriptionChange)

    /// How many changes of one type a message holds.
    static let pageSize = 500

    package var type: FeedbackType {
        switch self {
        case .device(let change): change.happening.type
        case .subscription(let change): change.ending == nil ? .subscriptionCreated : .subscriptionDeleted
        }
    }

    fileprivate var listName: String {
        switch self {
        case .device: "devices"
        case .subscription: "subscriptions"
        }
    }

    fileprivate var json: JSONValue {
        switch self {
        case .device(let change): change.json
        case .subscription(let change): change.json
        }
    }
}

/// What happened to a device. Never says where it is reached.
package struct DeviceChange: Sendable, Equatable {
    /// What may happen.
    package enum Happening: Sendable, Equatable {
        /// It is sent to from now on, or in another way.
        case registered(Registration)
        /// Its push service says that it is gone, in these words.
        case unregistered(String)
        /// Its push service refused it, in these words, for a reason that may be ours.
        case quarantined(String)
        case deleted(Deletion)

        fileprivate var type: FeedbackType {
            switch self {
            case .registered: .deviceRegistered
            case .unregistered: .deviceUnregistered
            case .quarantined: .deviceQuarantined
            case .deleted: .deviceDeleted
            }
        }

        fileprivate var reason: String {
            switch self {
            case .registered(let registration): registration.reason
            case .unregistered(let words), .quarantined(let words): words
            case .deleted(let deletion): deletion.rawValue
            }
        }
    }

    /// Why a device is sent to. Registered again as it is, it is no news.
    package enum Registration: Sendable, Equatable {
        case new
        /// It was another user's.
        case moved(from: UserID)
        /// It is reached in another way.
        case changed
        /// It was out of use, and was registered again.
        case returned
        /// It was out of use, and was taken back into use with others.
        case restored

        fileprivate var reason: String {
            switch self {
            case .new: "new"
            case .moved: "moved"
            case .changed: "changed"
            case .returned: "returned"
            case .restored: "restored"
            }
        }
    }

    /// Why a device is forgotten.
    package enum Deletion: String, Sendable {
        /// Somebody asked for it.
        case deleted
        /// Another device was registered with its token.
        case replaced
        /// It was unregistered, and its user's latest devices needed the room.
        case displaced
        /// It was out of use for too long.
        case aged
        /// Its user was removed.
        case userDeleted = "user deleted"
    }

    package var happening: Happening
    package var deviceID: DeviceID
    /// Its user, or who was it last.
    package var userID: UserID
    package var lane: Lane

    package init(_ happening: Happening, of device: DeviceID, _ user: UserID, in lane: Lane) {
        self.happening = happening
        deviceID = device
        userID = user
        self.lane = lane
    }

    fileprivate var json: JSONValue {
        let former: UserID? = if case .registered(.moved(let former)) = happening { former } else { nil }
        return [
            "deviceId": .string(deviceID.rawValue),
            "userId": userID.json,
            "formerUserId": former?.json,
            "provider": .string(lane.provider.rawValue),
            "appId": lane.app.map(JSONValue.string),
            "host": lane.host.map(JSONValue.string),
            "reason": .string(happening.reason),
        ]
    }
}

package struct SubscriptionChange: Sendable, Equatable {
    package enum Ending: String, Sendable {
        case unsubscribed
        case tagDeleted = "tag deleted"
        case userDeleted = "user deleted"
        /// The device was removed, or is somebody else's.
        case deviceGone = "device gone"
    }

    package var tag: TagID
    package var subscriber: Subscriber
    /// Why it is over; `nil` when it began.
    package var ending: Ending?

    package init(_ subscriber: Subscriber, _ tag: TagID, over ending: Ending? = nil) {
        self.tag = tag
        self.subscriber = subscriber
        self.ending = ending
    }

    fileprivate var json: JSONValue {
        [
            "tag": .string(tag.rawValue),
            "\(subscriber.kind.rawValue)Id": .string(subscriber.id),
            "reason": ending.map { .string($0.rawValue) },
        ]
    }
}

extension [Endpoint] {
    /// What they are told of devices and subscriptions: one message for those of a type, 500 at the most.
    package func feedback(
        on changes: [DirectoryChange],
        in network: NetworkID,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> [FeedbackMessage] {
        var types: [FeedbackType] = []
        for one in changes where types.last != one.type && !types.contains(one.type) { types.append(one.type) }
        return types.flatMap { type in
            let pieces = changes.filter { $0.type == type }
            return stride(from: 0, to: pieces.count, by: DirectoryChange.pageSize).compactMap { start in
                let page = pieces[start..<Swift.min(start + DirectoryChange.pageSize, pieces.count)]
                let data: JSONObject = [pieces[0].listName: .array(page.map(\.json))]
                return FeedbackMessage(type, data, in: network, to: self, at: now, ids: ids)
            }
        }
    }
}
