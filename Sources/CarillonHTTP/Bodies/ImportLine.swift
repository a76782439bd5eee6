import CarillonCore

/// One line of an import (API section 4): `{"user":…}`, `{"channel":…}`, `{"member":…}` or `{"device":…}`.
enum ImportLine {
    private static let kinds = ["user", "channel", "member", "device"]

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - bytes: The line, without its end.
    ///   - number: Its number, counted from 1, for errors.
    ///   - devices: Reads the device that the line holds.
    /// - Returns: What it says.
    /// - Throws: `invalid-import`, each error with the line's number.
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

    /// An error that names a line.
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

    private static func device(_ reader: inout JSONObjectReader, devices: DeviceReader) -> ImportRecord? {
        guard var device = reader.object("device", required: true) else { return nil }
        let id = device.identifier("id", as: Device.self, required: true)
        let user = device.userIDOrNobody("userId")
        let placeholder = DeviceID(trusted: "")
        let read = devices.device(id ?? placeholder, of: user, from: &device)
        device.finish()
        guard id != nil, let read else { return nil }
        return .device(read)
    }
}

extension ImportTally {
    /// The answer to an import.
    var json: JSONValue {
        [
            "users": JSONValue(users),
            "channels": JSONValue(channels),
            "members": JSONValue(members),
            "devices": JSONValue(devices),
        ]
    }
}
