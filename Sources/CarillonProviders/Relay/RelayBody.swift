import CarillonCore

/// The body of a message to an endpoint: an event as it was posted, and what we say of it.
struct RelayBody {
    /// What we add, under a name of our own.
    private static let ownName = "carillon"

    let bytes: [UInt8]

    /// The body of an attempt to tell of an event, which is one of a group's messages.
    init(_ posted: [UInt8], about event: RelayedEvent, of group: DeliveryGroup) {
        let own: JSONValue = [
            "eventId": .string(event.id.description),
            "networkId": .string(group.lane.networkID.rawValue),
            "receivedAt": .string(event.receivedAt.description),
            "attempt": JSONValue(group.attempt + 1),
            "replay": .bool(group.terms?.isReplay ?? false),
        ]
        let isDirect = event.type == .notificationDirect
        // A member is added where the last brace stands, and the bytes before it are left as they are: an event has members.
        guard !isDirect, let end = posted.lastIndex(of: UInt8(ascii: "}")), !Self.mayHoldOwnName(posted) else {
            // Whoever posts may call something as we do: ours goes before theirs.
            var members =
                isDirect
                ? Self.withoutAddresses(posted, receivedAt: event.receivedAt)
                : (try? JSONValue(parsing: posted))?.object ?? JSONObject()
            members[Self.ownName] = own
            bytes = JSONValue.object(members).serialized
            return
        }
        bytes = posted[..<end] + Array(#","\#(Self.ownName)":"#.utf8) + own.serialized + [UInt8(ascii: "}")]
    }

    /// A direct notification with the ids of devices in the place of their addresses, by which people can be reached.
    private static func withoutAddresses(_ posted: [UInt8], receivedAt: Timestamp) -> JSONObject {
        guard case .object(var event)? = try? JSONValue(parsing: posted) else { return JSONObject() }
        let stored = StoredEvent(body: posted, sourceID: "", receivedAt: receivedAt, occurredAt: receivedAt)
        var devices: [AddressedDevice] = []
        if case .event(let read) = stored, case .addresses(let addressed)? = read.direct?.audience {
            devices = addressed
        }
        event.hideAddresses(of: devices)
        return event
    }

    /// Whether there may be a member of our name, written in whatever way.
    private static func mayHoldOwnName(_ posted: [UInt8]) -> Bool {
        // As bytes: every message passes here, and hardly any has what is looked for.
        let (name, escape) = (Array(ownName.utf8), Array(#"\u"#.utf8))
        let isSuspect = posted.withUnsafeBufferPointer { bytes in
            bytes.indices.contains { index in
                let byte = bytes[index]
                return byte == escape[0] && bytes[index...].starts(with: escape)
                    || byte == name[0] && bytes[index...].starts(with: name)
            }
        }
        guard isSuspect else { return false }
        guard case .object(let members)? = try? JSONValue(parsing: posted) else { return true }
        return members.contains(ownName)
    }
}
