/// Turns the bytes of `POST /notifications` into events of type `notification.direct`, or says what is wrong with every place
/// of them (FACES section B1).
///
/// Unlike events, which senders evolve, notifications are written for Carillon: unknown members are errors.
package struct NotificationParser: Sendable {
    private static let body = PostedBody(
        problem: "invalid-notification",
        one: "a notification",
        many: "notifications"
    )

    private let clock: WallClock
    private let addresses: DeviceAddressReader

    /// A parser for notifications that are sent now, to addresses that `addresses` reads.
    package init(clock: WallClock, addresses: DeviceAddressReader) {
        self.clock = clock
        self.addresses = addresses
    }

    /// Reads one notification or an array of 1 to 1,000.
    ///
    /// - Parameters:
    ///   - body: The bytes as they arrived.
    ///   - makeSourceID: Names a notification that has no id, by its place in the array; `nil` for one that stands alone.
    /// - Returns: The notifications as events in canonical JSON, in the order in which they were posted.
    /// - Throws: The problem `invalid-json` with line and column, or `invalid-notification` with a JSON Pointer (RFC 6901)
    ///   to each error.
    package func parse(
        body: [UInt8],
        makeSourceID: (_ index: Int?) -> String
    ) throws(InvalidInput) -> ParsedBody {
        let now = clock.now()
        var index = 0
        return try Self.body.parse(body) { value, _, pointer, errors in
            defer { index += 1 }
            let errorsBefore = errors.errors.count
            var reader = JSONObjectReader(value, at: pointer, unknown: .refuse, into: errors)
            let id = reader.identifier("id", as: Event.self)?.rawValue ?? makeSourceID(pointer.isEmpty ? nil : index)
            var event = Event(sourceID: id, type: .notificationDirect, timestamp: now)
            DirectNotificationReader(addresses: addresses, errors: errors).fill(&event, from: &reader)
            reader.finish()
            guard errors.errors.count == errorsBefore else { return nil }
            return ParsedEvent(sourceID: id, content: .known(event), body: event.canonicalJSON.serialized)
        }
    }
}
