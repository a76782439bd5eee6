/// Turns the bytes of `POST /events` into events, or says what is wrong with every place of them (API section 3).
///
/// Unknown fields and unknown types are tolerated, as senders evolve; what is understood must be right. `null` counts as
/// absent. The limits on counts and sizes hold inside the limit on the whole body, which the server enforces.
package struct EventParser: Sendable {
    /// The most events in one array.
    package static let maximumBatchCount = 1000
    /// How far ahead of our clock a sender's may be before its timestamp is taken as now.
    package static let clockTolerance = Duration.seconds(300)

    private static let problem = "invalid-event"
    private let clock: WallClock
    private let vocabulary: EventReader.Vocabulary

    /// A parser that takes an event without a timestamp to have happened when it is parsed.
    ///
    /// To read a stored event again, give it a clock that stands at the time of its receipt.
    package init(clock: WallClock) {
        self.init(clock: clock, vocabulary: .whole)
    }

    init(clock: WallClock, vocabulary: EventReader.Vocabulary) {
        self.clock = clock
        self.vocabulary = vocabulary
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
        if JSONValue.beginsArray(body) {
            .batch(try batch(body))
        } else {
            .single(try single(body, fallbackSourceID: fallbackSourceID))
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
        let reader = reader(fallbackSourceID: fallbackSourceID, errors)
        return reader.read(value, at: pointer)?.content
    }

    private func reader(fallbackSourceID: String?, _ errors: InputErrors) -> EventReader {
        EventReader(now: clock.now(), fallbackSourceID: fallbackSourceID, errors: errors, vocabulary: vocabulary)
    }

    private func single(_ body: [UInt8], fallbackSourceID: String?) throws(InvalidInput) -> ParsedEvent {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: body)
        } catch {
            throw InvalidInput(error)
        }
        guard case .object = value else {
            throw InvalidInput(problem: Self.problem, pointer: "", detail: "must be an event or an array of events")
        }
        let errors = InputErrors()
        let reader = reader(fallbackSourceID: fallbackSourceID, errors)
        guard let event = reader.read(value, at: "") else {
            throw InvalidInput(problem: Self.problem, errors: errors.errors)
        }
        return ParsedEvent(sourceID: event.sourceID, content: event.content, body: body)
    }

    private func batch(_ body: [UInt8]) throws(InvalidInput) -> [ParsedEvent] {
        let elements: [(range: Range<Int>, value: JSONValue)]
        do throws(JSONSyntaxError) {
            elements = try JSONValue.parseElements(of: body)
        } catch {
            throw InvalidInput(error)
        }
        guard (1...Self.maximumBatchCount).contains(elements.count) else {
            let detail = "must hold 1 to \(Self.maximumBatchCount) events"
            throw InvalidInput(problem: Self.problem, pointer: "", detail: detail)
        }
        let errors = InputErrors()
        let reader = reader(fallbackSourceID: nil, errors)
        var events: [ParsedEvent] = []
        events.reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() where !errors.isFull {
            guard let event = reader.read(element.value, at: JSONPointer.step(index)) else { continue }
            let bytes = Array(body[element.range])
            events.append(ParsedEvent(sourceID: event.sourceID, content: event.content, body: bytes))
        }
        try errors.throwIfAny(problem: Self.problem)
        return events
    }
}
