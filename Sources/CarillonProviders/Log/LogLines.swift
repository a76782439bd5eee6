import CarillonCore

/// The lines of a group in one buffer: what all devices have in common is escaped once.
struct LogLines {
    /// The lines, each with its line feed.
    private(set) var bytes: [UInt8] = []
    /// Where each target's line ends in `bytes`.
    private(set) var ends: [Int] = []

    init(_ group: DeliveryGroup) {
        let ending = Self.ending(of: group)
        ends.reserveCapacity(group.targets.count)
        bytes.reserveCapacity(group.targets.count * (ending.count + 100))
        for target in group.targets {
            bytes.append(contentsOf: #"{"deviceId":"#.utf8)
            JSONValue.string(target.deviceID.rawValue).serialize(into: &bytes)
            bytes.append(contentsOf: #","userId":"#.utf8)
            target.userID.json.serialize(into: &bytes)
            bytes.append(contentsOf: ending)
            ends.append(bytes.count)
        }
    }

    /// The members from `eventId` on. A line is for people who look on: it names its event whatever payloads carry.
    private static func ending(of group: DeliveryGroup) -> [UInt8] {
        var members: JSONObject = [
            "eventId": .string(group.cause.eventID.description),
            "eventType": .string(group.cause.eventType.rawValue),
        ]
        members.merge(PushText(group).json)
        members["locale"] = (group.devicePush?.notification.locale).map(JSONValue.string)
        members.merge(group.wishes)
        var bytes = JSONValue.object(members).serialized
        bytes[0] = UInt8(ascii: ",")
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }
}
