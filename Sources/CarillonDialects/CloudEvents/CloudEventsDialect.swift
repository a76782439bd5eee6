import CarillonCore

/// CloudEvents 1.0 over HTTP, in all three modes, and Twilio's Event Streams (DIALECTS section 7).
struct CloudEventsDialect: EventDialect {
    /// What Twilio signs begins with this service's own address.
    static let publicURL = "publicUrl"
    private static let mostEvents = EventParser.maximumBatchCount

    /// What others write as they like is not read another way.
    let hasEmojiNames = false
    let name = DialectName.cloudevents
    let mayHoldSeveral = true
    let answer = DialectAnswer.results
    /// What a body is depends on the mode.
    let mediaTypes: [String]? = nil

    /// Nothing: whatever else it is signed with, the network's webhook secrets are there.
    func missing(in document: DialectDocument) -> String? { nil }

    func settings(from reader: inout JSONObjectReader) -> JSONObject {
        let url = reader.string(Self.publicURL)
        if let url, TwilioSignature.Address(url) == nil {
            reader.refuse(Self.publicURL, "must be an http or https URL without query and fragment")
        }
        return [Self.publicURL: url.map(JSONValue.string)]
    }

    /// Passes who shows the user and password, and what Twilio has signed.
    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        guard let signature = try request.proof("x-twilio-signature") else {
            guard let basic = document.basic else { throw .unproven("there is no API key and no signature") }
            return try Proof.isBasic(request, basic)
        }
        // Twilio signs what it sends to an address with a user and a password, too: those suffice.
        if let basic = document.basic, (try? Proof.isBasic(request, basic)) != nil { return }
        let address = DialectSettings(document.settings).text(Self.publicURL)
        try TwilioSignature(signature).verify(request, address, document.secrets)
    }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        let reader = CloudEventReader(now: post.now)
        switch try CloudEventMode(post.request) {
        case .binary(let isJSON):
            let event = try CloudEvent(headersOf: post.request)
            let read = reader.read(event, at: "")
            // Of what nobody is notified of, data of any type is passed over.
            let isIgnored = if case .ignored? = read?.content { true } else { false }
            guard isJSON || isIgnored else { throw .unsupportedType("data must be JSON") }
            return try finish(read, reader)
        case .json(let isBatch):
            let body = try post.request.value()
            guard case .array(let elements) = body else {
                guard isBatch != true else { throw .malformed("", "must be an array of events") }
                return try finish(reader.read(body, at: ""), reader)
            }
            guard isBatch ?? true else { throw .malformed("", "must be an event") }
            guard elements.count <= Self.mostEvents else {
                throw .malformed("", "must hold at most \(Self.mostEvents) events")
            }
            // What users of Twilio wrote is not its fault; who writes our `data` hears of each mistake, and nothing is stored.
            guard elements.contains(where: CloudEventReader.isOfTwilio) else {
                let events = elements.enumerated().map { reader.read($1, at: "/\($0)") }
                guard reader.errors.isEmpty else { throw invalid(reader) }
                return DialectReading(events.compactMap(\.self), isList: true)
            }
            let events = elements.enumerated().map { read($1, at: $0, of: elements, now: post.now) }
            return DialectReading(events, isList: true)
        }
    }

    /// Reads one of Twilio's batch: what cannot be read is refused alone, since others' events are beside it.
    private func read(_ element: JSONValue, at index: Int, of others: [JSONValue], now: Timestamp) -> DialectEvent {
        let reader = CloudEventReader(now: now)
        if let event = reader.read(element, at: "") { return event.named("event", index, of: others) }
        var event = DialectEvent.unreadable("event \(index + 1): \(invalid(reader).reason)")
        event.shownID = element["id"]?.text
        return event
    }

    private func finish(_ event: DialectEvent?, _ reader: CloudEventReader) throws(DialectRefusal) -> DialectReading {
        guard let event else { throw invalid(reader) }
        return DialectReading([event])
    }

    private func invalid(_ reader: CloudEventReader) -> DialectRefusal {
        .invalid(InvalidInput(problem: "invalid-event", errors: reader.errors.errors))
    }
}
