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
    private let isWhole: Bool
    private let addresses: DeviceAddressReader?
    /// Whether what is read was accepted before.
    private let isStored: Bool

    /// A parser that takes an event without a timestamp to have happened when it is parsed.
    ///
    /// To read a stored event again, give it a clock that stands at the time of its receipt.
    ///
    /// - Parameters:
    ///   - clock: What time it is.
    ///   - addresses: Reads the addresses of direct notifications; `nil` where these are ignored like any unknown type, as
    ///     they are among posted events.
    package init(clock: WallClock, addresses: DeviceAddressReader? = nil) {
        self.init(clock: clock, isWhole: true, addresses: addresses)
    }

    init(
        clock: WallClock,
        isWhole: Bool,
        addresses: DeviceAddressReader?,
        isStored: Bool = false
    ) {
        self.isStored = isStored
        self.clock = clock
        self.isWhole = isWhole
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
