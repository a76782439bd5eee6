import CarillonCore
import Foundation
import Postgres

/// One row of `deliveries`: a group with its targets by id, as addresses are looked up when it is sent.
struct StoredDelivery: Sendable {
    /// The group; its targets are left to ``devices``.
    var group: DeliveryGroup
    var devices: [DeviceOwner]
    /// How long until it may be claimed, when it is not leased.
    var delay = Duration.zero
    /// Why it waits, where that is for its lane.
    var laneReason: String?

    /// A group as it is written, with its own targets.
    init(_ group: DeliveryGroup) {
        self.init(group, devices: group.targets.map(DeviceOwner.init))
    }

    init(_ group: DeliveryGroup, devices: [DeviceOwner], delay: Duration = .zero, laneReason: String? = nil) {
        self.group = group
        self.group.targets = []
        self.devices = devices
        self.delay = delay
        self.laneReason = laneReason
    }

    /// The last word on all of its devices, or messages, without looking any of them up.
    func ended(as state: DeliveryState, because reason: String, at moment: Timestamp?) -> Settlement {
        let records = devices.map { owner in
            DeviceRecord(
                deviceID: owner.device,
                userID: owner.user,
                state: state,
                attempts: group.attempt,
                reason: reason,
                at: moment ?? group.cause.receivedAt
            )
        }
        var ended = group
        if ended.isRelay { ended.targets = devices.map(\.targetWithoutAddress) }
        return Settlement(group: ended, records: records, remainders: [])
    }
}

/// A device and the user who owned it when the event was expanded, or a message to an endpoint.
struct DeviceOwner: Sendable {
    let device: DeviceID
    let user: UserID
    private(set) var relayed: RelayedEvent?

    init(device: DeviceID, user: UserID) {
        self.device = device
        self.user = user
    }

    init(_ target: Target) {
        self.init(device: target.deviceID, user: target.userID)
        relayed = target.relayed
    }

    /// Stands in for a target whose address is not known any more.
    var targetWithoutAddress: Target {
        var target = Target(deviceID: device, userID: user, address: .log, registeredAt: Timestamp(milliseconds: 0))
        target.relayed = relayed
        return target
    }
}

extension [DeviceOwner] {
    /// `[[device, user], …]`, or `[[event, type, milliseconds since 1970], …]` of messages.
    ///
    /// One message is written as former releases do, if it is about the event of the cause.
    func stored(in cause: DeliveryCause) -> String {
        let isLone = count == 1 && first?.relayed?.id == cause.eventID
        return JSONValue.array(
            map { owner in
                guard let event = owner.relayed, !isLone else {
                    return [.string(owner.device.rawValue), .string(owner.user.rawValue)]
                }
                return [
                    .string(event.id.description), .string(event.type.rawValue),
                    .number(JSONNumber(Int(event.receivedAt.milliseconds))),
                ]
            }
        ).serializedText
    }

    init(storedMessages text: String, of cause: DeliveryCause) throws(StoreError) {
        guard case .array(let messages)? = try? JSONValue(parsing: text) else { throw .unreadable("list of messages") }
        self = []
        reserveCapacity(messages.count)
        for message in messages {
            guard case .array(let fields) = message else { throw .unreadable("list of messages") }
            if messages.count == 1, fields.count == 2 {
                let event = RelayedEvent(cause.eventID, cause.eventType, receivedAt: cause.receivedAt)
                append(DeviceOwner(Target(event)))
                continue
            }
            guard fields.count == 3, let id = fields[0].text.flatMap(EventID.init), let type = fields[1].text,
                let receivedAt = fields[2].wholeNumber
            else { throw .unreadable("list of messages") }
            let moment = Timestamp(milliseconds: Int64(receivedAt))
            append(DeviceOwner(Target(RelayedEvent(id, EventType(type), receivedAt: moment))))
        }
    }

    init(stored text: String) throws(StoreError) {
        guard case .array(let pairs)? = try? JSONValue(parsing: text) else { throw .unreadable("list of targets") }
        self = []
        reserveCapacity(pairs.count)
        for pair in pairs {
            guard case .array(let ids) = pair, ids.count == 2, case .string(let device) = ids[0],
                case .string(let user) = ids[1]
            else { throw .unreadable("list of targets") }
            append(DeviceOwner(device: Identifier(trusted: device), user: Identifier(trusted: user)))
        }
    }
}

extension StoredDelivery {
    /// `[[user, number of devices], …]` of those with several; `nil` when that is not known.
    fileprivate var storedDeviceCounts: String? {
        guard let counts = group.deviceCounts else { return nil }
        guard !counts.isEmpty else { return "[]" }
        let users = Set(devices.map(\.user)).sorted()
        return JSONValue.array(
            users.compactMap { user in counts[user].map { [.string(user.rawValue), .number(JSONNumber($0))] } }
        ).serializedText
    }

    static func deviceCounts(stored text: String?) throws(StoreError) -> [UserID: Int]? {
        guard let text, text != "[]" else { return text == nil ? nil : [:] }
        guard case .array(let pairs)? = try? JSONValue(parsing: text) else { throw .unreadable("counts of devices") }
        var counts: [UserID: Int] = [:]
        for pair in pairs {
            guard case .array(let fields) = pair, fields.count == 2, let user = fields[0].text,
                let count = fields[1].wholeNumber
            else { throw .unreadable("counts of devices") }
            counts[UserID(trusted: user)] = count
        }
        return counts
    }
}

extension DeliveryCause {
    /// The cause as JSON, without the event's id, which has a column.
    var stored: String {
        var cause: JSONObject = [
            "type": .string(eventType.rawValue),
            "channel": channel.map { .string($0.id.rawValue) } ?? .null,
            "name": channel?.displayName.map(JSONValue.string) ?? .null,
            "roles": .array(actorRoles.map(JSONValue.string)),
            "mentions": .array(mentions.sorted().map { .string($0.rawValue) }),
            "receivedAt": .number(JSONNumber(Int(receivedAt.milliseconds))),
        ]
        if mentionsAll { cause["mentionsAll"] = true }
        cause["message"] = message.map { .string($0.uuid.uuidString) }
        cause["messageId"] = messageID.map(JSONValue.string)
        cause["trace"] = trace.map { .string($0.header) }
        cause["senderId"] = senderID.map { .string($0.rawValue) }
        if let relay {
            cause["relay"] = [
                "until": .number(JSONNumber(Int(relay.expiresAt.milliseconds))), "replay": .bool(relay.isReplay),
            ]
        }
        if isRevived { cause["revived"] = true }
        if module != .chat { cause["module"] = .string(module.rawValue) }
        return JSONValue.object(cause).serializedText
    }

    init(stored text: String, eventID: EventID) throws(StoreError) {
        guard case .object(let cause)? = try? JSONValue(parsing: text),
            case .string(let type)? = cause["type"],
            case .array(let roles)? = cause["roles"],
            case .array(let mentions)? = cause["mentions"],
            case .number(let number)? = cause["receivedAt"], let receivedAt = number.integer
        else { throw .unreadable("delivery") }
        self.init(
            eventID: eventID,
            eventType: EventType(type),
            module: cause["module"]?.text.flatMap(Module.init) ?? .chat,
            channel: cause["channel"]?.text.map { id in
                Channel(id: ChannelID(trusted: id), displayName: cause["name"]?.text)
            },
            message: cause["message"]?.text.flatMap { UUID(uuidString: $0) }.map(MessageKey.init(trusted:)),
            actorRoles: roles.compactMap(\.text),
            mentions: Set(mentions.compactMap { $0.text.map(UserID.init(trusted:)) }),
            mentionsAll: cause["mentionsAll"] == true,
            receivedAt: Timestamp(milliseconds: Int64(receivedAt))
        )
        messageID = cause["messageId"]?.text
        senderID = cause["senderId"]?.text.map(UserID.init(trusted:))
        trace = cause["trace"]?.text.flatMap(TraceContext.init)
        isRevived = cause["revived"] == true
        guard case .object(let terms)? = cause["relay"] else { return }
        guard let end = terms["until"]?.wholeNumber else { throw .unreadable("delivery") }
        relay = RelayTerms(
            expiresAt: Timestamp(milliseconds: Int64(end)),
            isReplay: terms["replay"] == .bool(true)
        )
    }
}

extension JSONValue {
    var wholeNumber: Int? {
        guard case .number(let number) = self else { return nil }
        return number.integer
    }
}

extension PostgresSession {
    func insert(_ deliveries: [StoredDelivery]) throws {
        guard !deliveries.isEmpty else { return }
        try execute(.inserting(deliveries))
    }
}

extension SQL {
    static func inserting(_ deliveries: [StoredDelivery]) -> SQL {
        let groups = deliveries.map(\.group)
        let delays = deliveries.map { $0.group.leased ? leaseDuration : $0.delay }
        return """
            INSERT INTO deliveries (network_id, group_id, event_id, message_key, provider, app_id, cause, locale, title, body,
                                    content, targets, size, device_counts, attempt, expires_at, leased,
                                    lease_token, lane_reason, run_at)
            SELECT n.network_id, n.group_id, n.event_id, n.message_key, n.provider, n.app_id, n.cause, n.locale, n.title, n.body,
                   n.content, n.targets, n.size, n.device_counts, n.attempt, n.expires_at, n.leased, n.lease_token, n.lane_reason,
                   now() + n.delay * interval '1 millisecond'
            FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)), \(groups.map(\.cause.eventID.uuid)),
                        \(groups.map(\.cause.message?.uuid)),
                        \(groups.map(\.lane.provider.rawValue)), \(groups.map(\.lane.appID)),
                        \(groups.map(\.cause.stored)), \(groups.map(\.notification.locale)),
                        \(groups.map(\.notification.title)), \(groups.map(\.notification.body)),
                        \(groups.map(\.push.storedContent)), \(deliveries.map { $0.devices.stored(in: $0.group.cause) }), \(deliveries.map(\.devices.count)),
                        \(deliveries.map(\.storedDeviceCounts)),
                        \(groups.map(\.attempt)), \(groups.map(\.expiresAt.stored)), \(groups.map(\.leased)),
                        \(groups.map(\.leaseToken)), \(deliveries.map(\.laneReason)), \(delays.map(\.wholeMilliseconds)))
                AS n (network_id, group_id, event_id, message_key, provider, app_id, cause, locale, title, body, content, targets, size,
                      device_counts, attempt, expires_at, leased, lease_token, lane_reason, delay)
            """
    }
}
