/// What a body in the inbox says to this release.
package enum StoredEvent: Sendable, Equatable {
    /// Something that it understands.
    case event(Event)
    /// A kind of event that only a later release knows: to be left to one that does.
    case unknownType(String)
    case unreadable

    /// Reads a stored body, whatever release wrote it, as it was read when it arrived.
    ///
    /// - Parameters:
    ///   - body: Canonical JSON. Former releases stored what was posted, which is the same.
    ///   - sourceID: The sender's id of the event, which need not stand in the body.
    ///   - receivedAt: When it arrived.
    ///   - occurredAt: When it happened, as that was taken when it arrived.
    package init(body: [UInt8], sourceID: String, receivedAt: Timestamp, occurredAt: Timestamp) {
        // What a later release gave a meaning to may have been any sender's own member when it was stored.
        let readings = [true, false].lazy.compactMap { isWhole in
            var parser = EventParser(clock: WallClock { receivedAt }, addresses: .trusting)
            parser.isWhole = isWhole
            parser.isStored = true
            return try? parser.parse(body: body, fallbackSourceID: sourceID)
        }
        guard case .single(let parsed)? = readings.first else {
            self = .unreadable
            return
        }
        switch parsed.content {
        case .known(var event):
            event.sourceID = sourceID
            event.timestamp = occurredAt
            self = .event(event)
        case .ignored(let type):
            self = .unknownType(type)
        }
    }
}
