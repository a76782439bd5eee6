import CarillonCore
import CarillonEdge
import HTTPTypes

extension MatrixNotification {
    /// The most bytes of a body: homeservers send whole messages, and those are long.
    static let maximumBytes = 128 * 1024
    static let maximumDevices = 100
    /// The longest pushkey, by the specification.
    static let maximumPushkey = 512
    /// The longest id of an event or a room, by far: the specification has 255 bytes.
    private static let longestID = 1_024
    /// Beyond this a time is in milliseconds: in seconds it would be some thousand years ahead.
    fileprivate static let firstMilliseconds = 100_000_000_000

    /// What is left out of a body rather than refused: any user of a homeserver may have written it, and it repeats what is refused for
    /// a day, before all that comes after it. Content stands two levels deeper in what is stored than in what is posted.
    private static let limits = JSONLimits(
        depth: 62,
        unstorable: .leftOut(
            cleaning: ["room_alias", "room_name", "sender_display_name", "type"],
            entirely: ["content"]
        )
    )

    /// Reads a body. What is unknown is passed over; `null` and empty ids count as absent, as homeservers send them.
    ///
    /// - Throws: ``Problem`` with the first place that is wrong.
    init(body: [UInt8]) throws(Problem) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: body, limits: Self.limits)
        } catch {
            throw .matrix(.badRequest, "the body is not JSON that is accepted: \(InvalidInput(error).description)")
        }
        let errors = InputErrors()
        var reader = JSONObjectReader(value, unknown: .tolerate, into: errors)
        let notification = reader.object("notification", required: true).flatMap { reader in
            var reader = reader
            return MatrixNotification(&reader)
        }
        if let error = errors.errors.first {
            throw .matrix(
                .badRequest,
                error.pointer.isEmpty ? "the body \(error.detail)" : "\(error.pointer) \(error.detail)"
            )
        }
        guard let notification else { throw .matrix(.badRequest, "/notification is required") }
        self = notification
    }

    private init?(_ reader: inout JSONObjectReader) {
        eventID = reader.word("event_id", maximumBytes: Self.longestID)
        roomID = reader.word("room_id", maximumBytes: Self.longestID)
        type = reader.text("type")
        sender = reader.text("sender")
        senderName = reader.name("sender_display_name")
        roomName = reader.name("room_name")
        roomAlias = reader.name("room_alias")
        membership = reader.text("membership")
        userIsTarget = reader.bool("user_is_target") ?? false
        isLow = reader.word("prio") == "low"
        content = reader.members("content").withoutTextNames
        counts = Counts()
        if var reader = reader.object("counts") {
            counts.unread = reader.count("unread")
            counts.missedCalls = reader.count("missed_calls")
        }
        devices = []
        guard let elements = reader.array("devices", required: true, maximumCount: Self.maximumDevices) else {
            return nil
        }
        if elements.isEmpty { reader.refuse("devices", "must not be empty") }
        for (index, element) in elements.enumerated() {
            var reader = reader.reader(of: element, in: "devices", at: index)
            guard let device = Device(&reader) else { return nil }
            devices.append(device)
        }
    }
}

extension MatrixNotification.Device {
    fileprivate init?(_ reader: inout JSONObjectReader) {
        // Under a pattern it is the app of the device, so it has to be one that can be stored.
        let appID = reader.identifier("app_id", as: DeviceAddress.self, required: true)?.rawValue
        let pushkey = reader.string(
            "pushkey",
            required: true,
            maximumBytes: MatrixNotification.maximumPushkey,
            nonEmpty: true
        )
        obtainedAt = reader.moment("pushkey_ts")
        data = reader.members("data").withoutTextNames
        if var tweaks = reader.object("tweaks") { sound = tweaks.word("sound") }
        guard let appID, let pushkey else { return nil }
        self.appID = appID
        self.pushkey = pushkey
    }
}

extension JSONObjectReader {
    /// A string; an empty one is as good as none.
    fileprivate mutating func word(_ key: String, maximumBytes: Int = .max) -> String? {
        string(key, maximumBytes: maximumBytes).flatMap { $0.isEmpty ? nil : $0 }
    }

    /// A word, and no more of it than is shown of one.
    fileprivate mutating func text(_ key: String) -> String? {
        word(key)?.shortened(toCharacters: .max, bytes: MatrixPayload.longestText)
    }

    /// A name, which a user wrote, as it is shown: one that is no string, or of which nothing is left to see, is none.
    fileprivate mutating func name(_ key: String) -> String? {
        guard case .string(let name)? = value(key), !name.isBlank else { return nil }
        return name.shownName
    }

    fileprivate mutating func count(_ key: String) -> Int? { integer(key, in: Int(Int32.min)...Int(Int32.max)) }

    fileprivate mutating func members(_ key: String) -> JSONObject {
        guard let value = value(key) else { return JSONObject() }
        guard case .object(let members) = value else {
            refuse(key, "must be an object")
            return JSONObject()
        }
        return members
    }

    /// A moment in seconds since 1970; some write milliseconds. One that no app can have had is none.
    fileprivate mutating func moment(_ key: String) -> Timestamp? {
        guard let value = value(key) else { return nil }
        guard case .number(let number) = value else {
            refuse(key, "must be a number of seconds")
            return nil
        }
        guard let number = number.integer, 1...Self.lastMillisecond ~= number else { return nil }
        let milliseconds = number < MatrixNotification.firstMilliseconds ? number * 1_000 : number
        return Timestamp(milliseconds: Int64(milliseconds))
    }

    /// Beyond what a time can be written as.
    private static let lastMillisecond = 253_402_300_799_999
}

extension JSONObject {
    /// Without what stands for the words of a push: whoever posts could otherwise have them repeated as often as a payload has room
    /// for it.
    fileprivate var withoutTextNames: JSONObject {
        let value = JSONValue.object(self)
        return value.hasTextName ? value.withoutTextNames?.object ?? JSONObject() : self
    }
}

extension JSONValue {
    fileprivate var hasTextName: Bool {
        switch self {
        case .array(let elements): elements.contains { $0.hasTextName }
        case .object(let object): PushTextName(self) != nil || object.members.contains { $0.value.hasTextName }
        case .null, .bool, .number, .string: false
        }
    }

    /// `nil` for what is one, be it only without those in it.
    fileprivate var withoutTextNames: JSONValue? {
        switch self {
        case .array(let elements): return .array(elements.compactMap(\.withoutTextNames))
        case .object(let object):
            let rest = JSONValue.object(JSONObject(object.members.map { ($0, $1.withoutTextNames) }))
            return PushTextName(rest) == nil ? rest : nil
        case .null, .bool, .number, .string: return self
        }
    }
}
