/// Turns the bytes of `POST /events` into events, or says what is wrong with every place of them (API section 3).
///
/// Unknown fields and unknown types are tolerated, as senders evolve; what is understood must be right. `null` counts as
/// absent. The limits on counts and sizes hold inside the limit on the whole body, which the server enforces.
package struct EventParser: Sendable {
    package static let maximumBatchCount = PostedBody.maximumCount
    /// How far ahead of our clock a sender's may be before its timestamp is taken as now.
    package static let clockTolerance = Duration.seconds(300)

    private static let body = PostedBody(problem: "invalid-event", one: "an event", many: "events")
    private let clock: WallClock
    private let addresses: DeviceAddressReader?
    /// Whether all that is documented is understood, as of ``EventData``.
    var isWhole = true
    /// Whether what is read was accepted before.
    var isStored = false

    /// A parser that takes an event without a timestamp to have happened when it is parsed.
    ///
    /// To read a stored event again, give it a clock that stands at the time of its receipt.
    ///
    /// - Parameters:
    ///   - clock: What time it is.
    ///   - addresses: Reads the addresses of direct notifications; `nil` where these are ignored like any unknown type, as
    ///     they are among posted events.
    package init(clock: WallClock, addresses: DeviceAddressReader? = nil) {
        self.clock = clock
        self.addresses = addresses
    }

    /// Reads one event or an array of 1 to ``maximumBatchCount`` events.
    ///
    /// One bad element makes the whole array bad.
    /// - Parameters:
    ///   - body: The bytes as they arrived.
    ///   - fallbackSourceID: The `webhook-id` header, which stands in for a missing `id` of a single event. The elements
    ///     of an array need their own, since one id shared by them would make all but the first a duplicate.
    /// - Returns: The events in the order in which they were posted.
    /// - Throws: The problem `invalid-json` with line and column, or `invalid-event` with a JSON Pointer (RFC 6901) to
    ///   each error, such as `/3/data/channel/id`.
    package func parse(body: [UInt8], fallbackSourceID: String?) throws(InvalidInput) -> ParsedBody {
        try Self.body.parse(body) { value, bytes, pointer, errors in
            // What stands alone has the empty pointer.
            let reader = reader(fallbackSourceID: pointer.isEmpty ? fallbackSourceID : nil, into: errors)
            guard let event = reader.read(value, at: pointer) else { return nil }
            return ParsedEvent(sourceID: event.sourceID, content: event.content, body: bytes())
        }
    }

    /// Reads an event that stands inside another body, such as one to be explained.
    ///
    /// Answers `nil` when something is wrong with it, which is then in `errors`.
    package func content(
        of value: JSONValue,
        at pointer: String,
        fallbackSourceID: String?,
        into errors: InputErrors
    ) -> ParsedEvent.Content? {
        reader(fallbackSourceID: fallbackSourceID, into: errors).read(value, at: pointer)?.content
    }

    private func reader(fallbackSourceID: String?, into errors: InputErrors) -> EventReader {
        EventReader(
            now: clock.now(),
            fallbackSourceID: fallbackSourceID,
            directReader: addresses.map {
                DirectNotificationReader(addresses: $0, errors: errors, isStored: isStored)
            },
            errors: errors,
            isWhole: isWhole
        )
    }
}

/// What a body held that was posted as events: a single event is answered differently from an array of one.
package enum ParsedBody: Sendable, Equatable {
    /// One JSON object.
    case single(ParsedEvent)
    /// A JSON array of 1 to ``EventParser/maximumBatchCount`` events, in order.
    case batch([ParsedEvent])
}

/// One event as it was posted, checked.
package struct ParsedEvent: Sendable, Equatable {
    package enum Content: Sendable, Equatable {
        case known(Event)
        /// A type that Carillon does not know: answered and forgotten. Its data was not looked at.
        case ignored(type: String)
    }

    /// The sender's own id of this event, from its body or from `webhook-id`.
    package var sourceID: String
    package var content: Content
    /// Its JSON exactly as it was posted: valid UTF-8 without U+0000 and lone surrogates, so that any database stores it.
    package var body: [UInt8]

    package init(sourceID: String, content: Content, body: [UInt8]) {
        self.sourceID = sourceID
        self.content = content
        self.body = body
    }
}

/// Reads one event from its JSON, by the table of API section 3.
struct EventReader {
    /// Longer than any type that Carillon knows.
    private static let maximumTypeBytes = 256

    /// When an event without a timestamp happened.
    let now: Timestamp
    let fallbackSourceID: String?
    /// Reads direct notifications; `nil` where they are a type like any other that is unknown.
    var directReader: DirectNotificationReader?
    let errors: InputErrors
    /// Whether all that is documented is understood, as of ``EventData``.
    var isWhole = true
    var kinds = EventType.kinds

    /// Answers `nil` only when it noted an error. After an error it goes on, to find the others.
    func read(_ value: JSONValue, at pointer: String) -> (sourceID: String, content: ParsedEvent.Content)? {
        let errorsBefore = errors.errors.count
        var envelope = JSONObjectReader(value, at: pointer, unknown: .tolerate, into: errors)
        let sourceID = sourceID(in: &envelope)
        let typeName = envelope.string(
            "type",
            required: true,
            maximumBytes: Self.maximumTypeBytes,
            nonEmpty: true
        )
        guard let typeName else { return nil }
        guard let kind = kinds.first(where: { $0.name == typeName }), kind.describesTheChat || directReader != nil
        else {
            return sourceID.map { ($0, .ignored(type: typeName)) }
        }
        var event = Event(sourceID: sourceID ?? "", type: .kind(kind), timestamp: timestamp(in: &envelope))
        if let object = envelope.object("data", required: true) {
            var data = EventData(object: object, isWhole: isWhole)
            kind.read(&data, into: &event)
            if !kind.describesTheChat { directReader?.fill(&event, from: &data.object) }
            if isWhole, kind.notifies { data.limit(&event) }
            if isWhole, kind.describesTheChat { event.people = data.people("people") }
        }
        return errors.errors.count == errorsBefore ? (event.sourceID, .known(event)) : nil
    }

    private func sourceID(in envelope: inout JSONObjectReader) -> String? {
        if let fallbackSourceID, !envelope.contains("id") || envelope.isNull("id") {
            guard Identifier<Event>(fallbackSourceID) != nil else {
                errors.add(pointer: envelope.pointer, detail: "webhook-id \(InputRule.identifier)")
                return nil
            }
            return fallbackSourceID
        }
        return envelope.identifier("id", as: Event.self, required: true)?.rawValue
    }

    private func timestamp(in envelope: inout JSONObjectReader) -> Timestamp {
        guard let timestamp = envelope.timestamp("timestamp") else { return now }
        return timestamp > now + EventParser.clockTolerance ? now : timestamp
    }
}
