import CarillonCore

/// One line of an import (API section 4): `{"user":…}`, `{"channel":…}`, `{"member":…}`, `{"device":…}`,
/// `{"tag":…}` or `{"subscription":…}`.
enum ImportLine {
    private static let kinds = ["user", "channel", "member", "device", "tag", "subscription"]

    /// Reads a line without its end.
    /// - Throws: `invalid-import`, each error with the line's number, counted from 1.
    static func record(_ bytes: [UInt8], number: Int, devices: DeviceReader) throws(InvalidInput) -> ImportRecord {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: bytes)
        } catch {
            throw failure(number, pointer: error.pointer, "column \(error.column): \(error.reason.rawValue)")
        }
        do throws(InvalidInput) {
            return try value.read(as: "invalid-import") { reader in record(&reader, devices: devices) }
        } catch {
            throw InvalidInput(
                problem: error.problem,
                errors: error.errors.map { FieldError(pointer: $0.pointer, detail: "line \(number): \($0.detail)") }
            )
        }
    }

    static func failure(_ number: Int, pointer: String = "", _ detail: String) -> InvalidInput {
        InvalidInput(problem: "invalid-import", pointer: pointer, detail: "line \(number): \(detail)")
    }

    private static func record(_ reader: inout JSONObjectReader, devices: DeviceReader) -> ImportRecord? {
        let present = kinds.filter { reader.contains($0) }
        guard present.count == 1 else {
            for kind in present { reader.refuse(kind, "must be the only one of \(kinds.joined(separator: ", "))") }
            return nil
        }
        switch present[0] {
        case "user": return reader.person("user", required: true).map { .user($0) }
        case "channel": return reader.channel("channel", required: true).map { .channel($0) }
        case "member": return member(&reader)
        case "tag": return tag(&reader)
        case "subscription": return subscription(&reader)
        default: return device(&reader, devices: devices)
        }
    }

    private static func member(_ reader: inout JSONObjectReader) -> ImportRecord? {
        guard var member = reader.object("member", required: true) else { return nil }
        let channel = member.identifier("channelId", as: Channel.self, required: true)
        let user = member.userID("userId", required: true)
        member.finish()
        guard let channel, let user else { return nil }
        return .member(channel, user)
    }

    private static func tag(_ reader: inout JSONObjectReader) -> ImportRecord? {
        guard var tag = reader.object("tag", required: true) else { return nil }
        let id = tag.identifier("id", as: Tag.self, required: true)
        let read = Tag(id: id ?? TagID(trusted: ""), from: &tag)
        tag.finish()
        return id.map { _ in .tag(read) }
    }

    private static func subscription(_ reader: inout JSONObjectReader) -> ImportRecord? {
        guard var subscription = reader.object("subscription", required: true) else { return nil }
        let tag = subscription.identifier("tag", as: Tag.self, required: true)
        let subscriber: Subscriber?
        if subscription.contains("userId"), subscription.contains("deviceId") {
            for key in ["userId", "deviceId"] { subscription.refuse(key, "must be the only one of userId, deviceId") }
            subscriber = nil
        } else if subscription.contains("deviceId") {
            subscriber = subscription.identifier("deviceId", as: Device.self, required: true).map(Subscriber.device)
        } else {
            subscriber = subscription.userID("userId", required: true).map(Subscriber.user)
        }
        subscription.finish()
        guard let tag, let subscriber else { return nil }
        return .subscription(subscriber, tag)
    }

    private static func device(_ reader: inout JSONObjectReader, devices: DeviceReader) -> ImportRecord? {
        guard var device = reader.object("device", required: true) else { return nil }
        let id = device.identifier("id", as: Device.self, required: true)
        let user = device.userIDOrNobody("userId")
        let placeholder = DeviceID(trusted: "")
        var read = devices.device(id ?? placeholder, of: user, from: &device)
        let registeredAt = device.timestamp("registeredAt")
        // Imported now; who does not say when it was registered knows nothing against what push services say of it.
        read?.obtainedAt = registeredAt.map { min($0, devices.now) } ?? .epoch
        device.finish()
        guard id != nil, let read else { return nil }
        return .device(read)
    }
}

extension ImportTally {
    /// The answer to an import. What there were no lines of is left out where it is not told always.
    var json: JSONValue {
        [
            "users": JSONValue(users), "channels": JSONValue(channels), "members": JSONValue(members),
            "devices": JSONValue(devices),
            "tags": tags > 0 ? JSONValue(tags) : nil,
            "subscriptions": subscriptions > 0 ? JSONValue(subscriptions) : nil,
        ]
    }
}
