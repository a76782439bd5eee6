import CarillonCore
import Foundation
import Postgres

/// One row of `deliveries`, to be written: a group of whose targets the ids are kept, as addresses are looked up when it is sent.
///
/// A row of messages looks like one of devices: its provider is `relay`, its app is the endpoint, title and body are empty, and what
/// holds for them stands in its cause. SQL knows that, and nobody but this file.
struct StoredDelivery: Sendable {
    var group: DeliveryGroup
    /// How long until it may be claimed, when it is not leased.
    var delay = Duration.zero
    /// Why it waits, where that is for its lane.
    var laneReason: String?
}

extension [Target] {
    /// `[[device, user], …]`, or `[[event, type, milliseconds since 1970], …]` of messages.
    ///
    /// One message is written as former releases do, if it is about the event of the cause.
    func stored(in cause: DeliveryCause) -> String {
        let isLone = count == 1 && first?.event?.id == cause.eventID
        return JSONValue.array(
            map { target in
                guard let event = target.event, !isLone else {
                    return [.string(target.deviceID.rawValue), .string(target.userID.rawValue)]
                }
                return [
                    .string(event.id.description), .string(event.type.rawValue),
                    .number(JSONNumber(Int(event.receivedAt.milliseconds))),
                ]
            }
        ).serializedText
    }

    fileprivate init(storedMessages text: String, of cause: DeliveryCause) throws(StoreError) {
        guard case .array(let messages)? = try? JSONValue(parsing: text) else { throw .unreadable("list of messages") }
        self = []
        reserveCapacity(messages.count)
        for message in messages {
            guard case .array(let fields) = message else { throw .unreadable("list of messages") }
            if messages.count == 1, fields.count == 2 {
                append(Target(RelayedEvent(cause.eventID, cause.eventType, receivedAt: cause.receivedAt)))
                continue
            }
            guard fields.count == 3, let id = fields[0].text.flatMap(EventID.init), let type = fields[1].text,
                let receivedAt = fields[2].wholeNumber
            else { throw .unreadable("list of messages") }
            let moment = Timestamp(milliseconds: Int64(receivedAt))
            append(Target(RelayedEvent(id, EventType(type), receivedAt: moment)))
        }
    }

    /// Devices whose addresses are looked up.
    init(stored text: String) throws(StoreError) {
        guard case .array(let pairs)? = try? JSONValue(parsing: text) else { throw .unreadable("list of targets") }
        self = []
        reserveCapacity(pairs.count)
        for pair in pairs {
            guard case .array(let ids) = pair, ids.count == 2, case .string(let device) = ids[0],
                case .string(let user) = ids[1]
            else { throw .unreadable("list of targets") }
            append(Target(deviceID: Identifier(trusted: device), userID: Identifier(trusted: user)))
        }
    }
}

extension StoredDelivery {
    /// `[[user, number of devices], …]` of those with several; `nil` when that is not known.
    fileprivate var storedDeviceCounts: String? {
        guard let counts = group.knownDeviceCounts else { return nil }
        guard !counts.isEmpty else { return "[]" }
        let users = Set(group.targets.map(\.userID)).sorted()
        return JSONValue.array(
            users.compactMap { user in counts[user].map { [.string(user.rawValue), .number(JSONNumber($0))] } }
        ).serializedText
    }

    fileprivate static func deviceCounts(stored text: String?) throws(StoreError) -> [UserID: Int]? {
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

extension DeliveryGroup {
    /// The last word on all of its targets, without looking any of them up.
    func ended(as state: DeliveryState, because reason: String, at moment: Timestamp) -> Settlement {
        let records = targets.map { DeviceRecord($0, state, attempts: attempt, reason: reason, at: moment) }
        return Settlement(group: self, records: records, remainders: [])
    }

    /// How many devices users have who have several; `nil` when that is not known.
    var knownDeviceCounts: [UserID: Int]? {
        if case .devices(let sent) = payload { sent.deviceCounts } else { [:] }
    }

    /// The push of devices; an empty one of messages.
    var storedPush: Push {
        switch payload {
        case .devices(let sent): sent.push
        case .messages: Push(Notification(locale: "", title: "", body: ""))
        }
    }

    /// Its cause as JSON, with what holds for messages.
    var storedCause: String { cause.stored(telling: terms) }

    /// By what groups are sorted before their rows are locked.
    var rowKey: (network: NetworkID, id: UUID) { (lane.networkID, id) }
}

extension Push {
    /// What goes beyond title and body, as JSON; `nil` when nothing does.
    var storedContent: String? { content.map { JSONValue.object($0.json).serializedText } }
}

extension DeliveryCause {
    /// The cause as JSON, without the event's id, which has a column.
    fileprivate func stored(telling terms: RelayTerms?) -> String {
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
        if let terms {
            cause["relay"] = [
                "until": .number(JSONNumber(Int(terms.expiresAt.milliseconds))), "replay": .bool(terms.isReplay),
            ]
        }
        if isRevived { cause["revived"] = true }
        if module != .chat { cause["module"] = .string(module.rawValue) }
        return JSONValue.object(cause).serializedText
    }

    init(stored cause: JSONObject, eventID: EventID) throws(StoreError) {
        guard case .string(let type)? = cause["type"],
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
    }
}

extension RelayTerms {
    fileprivate init(storedWith cause: JSONObject) throws(StoreError) {
        guard case .object(let terms)? = cause["relay"], let end = terms["until"]?.wholeNumber else {
            throw .unreadable("delivery")
        }
        self.init(expiresAt: Timestamp(milliseconds: Int64(end)), isReplay: terms["replay"] == .bool(true))
    }
}

extension Row {
    /// Reads locale, title and body from three columns that follow each other, and what goes beyond them from one.
    func push(_ first: Int, content column: Int) throws -> Push {
        let notification = Notification(
            locale: try decode(first),
            title: try decode(first + 1),
            body: try decode(first + 2)
        )
        guard let stored = try decode(column, as: String?.self) else { return Push(notification) }
        let errors = InputErrors()
        guard let json = try? JSONValue(parsing: stored) else { throw StoreError.unreadable("content") }
        // A later release may know more than this one.
        var reader = JSONObjectReader(json, unknown: .tolerate, into: errors)
        let content = reader.pushContent(isStored: true)
        guard errors.isEmpty else { throw StoreError.unreadable("content") }
        return Push(notification, content: content)
    }

    /// Reads the JSON that causes are stored as.
    func storedCause(_ column: Int) throws -> JSONObject {
        let text: String = try decode(column)
        guard case .object(let cause)? = try? JSONValue(parsing: text) else { throw StoreError.unreadable("delivery") }
        return cause
    }

    /// Reads a delivery from the columns that a claim answers.
    func delivery(leased: Bool) throws -> DeliveryGroup {
        let lane = Lane(networkID: try id(0), provider: try choice(3), appID: try decode(4))
        let stored = try storedCause(5)
        let cause = try DeliveryCause(stored: stored, eventID: try eventID(2))
        let payload: DeliveryGroup.Payload
        let targets: [Target]
        if lane.endpoint == nil {
            let counts = try StoredDelivery.deviceCounts(stored: try decode(13))
            payload = .devices(DevicePush(try push(6, content: 14), deviceCounts: counts))
            targets = try [Target](stored: try decode(9))
        } else {
            payload = .messages(try RelayTerms(storedWith: stored))
            targets = try [Target](storedMessages: try decode(9), of: cause)
        }
        return DeliveryGroup(
            id: try decode(1),
            lane: lane,
            cause: cause,
            payload: payload,
            targets: targets,
            attempt: try decode(10),
            leaseToken: try decode(11),
            leased: leased
        )
    }
}

extension PostgresSession {
    func insert(_ groups: [DeliveryGroup]) throws { try insert(groups.map { StoredDelivery(group: $0) }) }

    func insert(_ deliveries: [StoredDelivery]) throws {
        guard !deliveries.isEmpty else { return }
        try execute(.inserting(deliveries))
    }
}

extension SQL {
    static func inserting(_ deliveries: [StoredDelivery]) -> SQL {
        let groups = deliveries.map(\.group)
        let (causes, pushes) = (groups.map(\.cause), groups.map(\.storedPush))
        let delays = deliveries.map { $0.group.leased ? leaseDuration : $0.delay }
        return """
            INSERT INTO deliveries (network_id, group_id, event_id, message_key, provider, app_id, cause, locale, title, body,
                                    content, targets, size, device_counts, attempt, expires_at, leased,
                                    lease_token, lane_reason, run_at)
            SELECT n.network_id, n.group_id, n.event_id, n.message_key, n.provider, n.app_id, n.cause, n.locale, n.title, n.body,
                   n.content, n.targets, n.size, n.device_counts, n.attempt, n.expires_at, n.leased, n.lease_token, n.lane_reason,
                   now() + n.delay * interval '1 millisecond'
            FROM unnest(\(groups.map(\.lane.networkID.rawValue)), \(groups.map(\.id)), \(causes.map(\.eventID.uuid)),
                        \(causes.map(\.message?.uuid)),
                        \(groups.map(\.lane.provider.rawValue)), \(groups.map(\.lane.appID)),
                        \(groups.map(\.storedCause)), \(pushes.map(\.notification.locale)),
                        \(pushes.map(\.notification.title)), \(pushes.map(\.notification.body)),
                        \(pushes.map(\.storedContent)), \(groups.map { $0.targets.stored(in: $0.cause) }), \(groups.map(\.targets.count)),
                        \(deliveries.map(\.storedDeviceCounts)),
                        \(groups.map(\.attempt)), \(groups.map(\.expiresAt.stored)), \(groups.map(\.leased)),
                        \(groups.map(\.leaseToken)), \(deliveries.map(\.laneReason)), \(delays.map(\.wholeMilliseconds)))
                AS n (network_id, group_id, event_id, message_key, provider, app_id, cause, locale, title, body, content, targets, size,
                      device_counts, attempt, expires_at, leased, lease_token, lane_reason, delay)
            """
    }
}
