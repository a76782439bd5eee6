import CarillonCore

/// Reads CloudEvents whose data is ours, or Twilio's. Everything that is wrong is noted with its place.
struct CloudEventReader {
    private static let longestAttribute = 4096
    private static let types = EventType.known.filter { $0 != .notificationDirect }

    let errors = InputErrors()
    private let now: Timestamp
    private let parser: EventParser

    init(now: Timestamp) {
        self.now = now
        parser = EventParser(clock: WallClock { now })
    }

    static func isOfTwilio(_ json: JSONValue) -> Bool { json["type"]?.text.flatMap(TwilioReading.subject) != nil }

    /// Reads one that is JSON; `nil` after noting what is wrong.
    func read(_ json: JSONValue, at pointer: String) -> DialectEvent? {
        guard case .object = json else {
            errors.add(pointer: pointer, detail: "must be an object")
            return nil
        }
        return read(CloudEvent(json), at: pointer)
    }

    /// Reads one; `nil` after noting what is wrong.
    func read(_ event: CloudEvent, at pointer: String) -> DialectEvent? {
        let errorsBefore = errors.errors.count
        if event.specVersion?.text != "1.0" {
            errors.add(pointer: pointer + "/specversion", detail: "must be 1.0")
        }
        let id = required(event.id, at: pointer + "/id")
        let source = required(event.source, at: pointer + "/source")
        let type = required(event.type, at: pointer + "/type")
        if let time = event.time, time.text.flatMap({ Timestamp(rfc3339: $0) }) == nil {
            errors.add(pointer: pointer + "/time", detail: "must be a date and time of RFC 3339")
        }
        if event.hasTwoPayloads {
            errors.add(pointer: pointer + "/data_base64", detail: "must not be there together with data")
        }
        guard errors.errors.count == errorsBefore, let id, let source, let type else { return nil }
        var read: DialectEvent?
        let sourceID = SourceID.ofCloudEvent(id, from: source)
        if let subject = TwilioReading.subject(of: type) {
            let time = SenderClock(now: now).rfc3339(event.time)
            read = data(of: event, at: pointer).map { data in
                TwilioReading(sourceID: sourceID, data: data, time: time).event(subject)
            }
        } else if let type = Self.known(type) {
            read = data(of: event, at: pointer).flatMap { canonical(type, sourceID, event.time, $0, at: pointer) }
        } else {
            read = .ignored("the type is none that anybody is notified of")
        }
        read?.shownID = id
        if let trace = event.trace, case .known(var known, let canonical)? = read?.content {
            known.trace = trace
            read?.content = .known(known, canonical: canonical)
        }
        return read
    }

    /// The canonical type at the end of a name.
    private static func known(_ type: String) -> EventType? {
        types.first { type == $0.rawValue || type.hasSuffix("." + $0.rawValue) }
    }

    private func canonical(
        _ type: EventType,
        _ sourceID: String,
        _ time: JSONValue?,
        _ data: JSONValue,
        at pointer: String
    ) -> DialectEvent? {
        var canonical: JSONObject = ["id": .string(sourceID), "type": .string(type.rawValue)]
        canonical["timestamp"] = time
        canonical["data"] = data
        let content = parser.content(of: .object(canonical), at: pointer, fallbackSourceID: nil, into: errors)
        guard case .known(let event)? = content else { return nil }
        canonical["timestamp"] = .string(event.timestamp.description)
        return DialectEvent(content: .known(event, canonical: .object(canonical)))
    }

    /// The data, which has to be an object.
    private func data(of event: CloudEvent, at pointer: String) -> JSONValue? {
        let place = pointer + "/data"
        switch event.payload {
        case .json(let value):
            if case .object = value { return value }
            errors.add(pointer: place, detail: "must be an object")
        case .bytes(let bytes):
            // One level less than elsewhere: the event stands around it.
            let limits = JSONLimits(depth: 63, unstorable: DialectRequest.limits.unstorable)
            if let value = try? JSONValue(parsing: bytes, limits: limits), case .object = value { return value }
            errors.add(pointer: place, detail: "must be a JSON object")
        case .none:
            errors.add(pointer: place, detail: "is required")
        }
        return nil
    }

    private func required(_ value: JSONValue?, at pointer: String) -> String? {
        guard let text = value?.text, (1...Self.longestAttribute).contains(text.utf8.count) else {
            errors.add(pointer: pointer, detail: "must be a string of 1 to \(Self.longestAttribute) bytes")
            return nil
        }
        return text
    }
}
