package import CarillonCore

/// Writes one JSON line per device, to see the pipeline work without any push service.
package struct LogProvider: Provider {
    package let name = ProviderName.log
    /// Lines wait this long at the most for a reader that has fallen behind.
    package let deadline = Duration.seconds(5)

    private let output: LineWriter

    /// A provider that writes to `output`, usually ``LineWriter/standardOutput``.
    package init(output: LineWriter) {
        self.output = output
    }

    /// Writes the lines of all targets at once: a line that was not written is to be tried again.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        let lines = LogLines(group)
        guard let result = await output.write(lines.bytes, within: deadline) else { return }
        for (target, end) in zip(group.targets, lines.ends) {
            if end <= result.written {
                report(target, .delivered(id: nil))
            } else {
                report(target, .retry(after: nil, reason: result.failure ?? "output incomplete"))
            }
        }
    }
}

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
