import CarillonCore
import CarillonDialects
import CarillonEdge

/// What became of the last posts of each dialect: the first thing that somebody looks for who connects a backend. In memory, of this
/// replica, and without any text.
struct DialectJournal: Sendable {
    /// What became of a post.
    enum Verdict: String {
        case accepted
        case ignored
        case refused
    }

    private static let duplicate = "a duplicate of what was accepted before"

    let entries: FaceJournal
    let clock: WallClock

    /// Writes down that a post was refused.
    func refused(_ reason: String, _ status: Int, _ dialect: DialectName, in network: NetworkID) {
        record(.refused, status: status, reason: reason, eventID: nil, dialect, network)
    }

    /// Writes down what came of a post.
    func answered(_ reading: DialectReading, _ receipts: [Receipt], _ dialect: DialectName, in network: NetworkID) {
        let accepted = receipts.first { $0.status == .accepted }
        let duplicate = receipts.first { $0.status == .duplicate }
        let count = receipts.count { $0.status == .accepted }
        let unreadable = reading.events.contains(where: \.isUnreadable) ? reading.reason : nil
        let share =
            receipts.count > 1
            ? ["\(count) of \(receipts.count) events", unreadable].compactMap(\.self).joined(separator: "; ") : nil
        record(
            accepted == nil ? .ignored : .accepted,
            status: 200,
            reason: accepted != nil ? share : duplicate != nil ? Self.duplicate : reading.reason,
            eventID: (accepted ?? duplicate)?.id,
            dialect,
            network
        )
    }

    /// What was written down, the newest first.
    func json(of dialect: DialectName, in network: NetworkID) -> JSONValue {
        .array(
            entries.entries(of: Self.place(dialect), in: network).map { entry in
                [
                    "at": JSONValue(entry.at), "verdict": .string(entry.operation), "reason": JSONValue(entry.reason),
                    "eventId": JSONValue(entry.eventID?.description),
                ]
            }
        )
    }

    private func record(
        _ verdict: Verdict,
        status: Int,
        reason: String?,
        eventID: EventID?,
        _ dialect: DialectName,
        _ network: NetworkID
    ) {
        let entry = FaceJournal.Entry(
            at: clock.now(),
            operation: verdict.rawValue,
            status: status,
            reason: reason,
            eventID: eventID
        )
        entries.record(entry, of: Self.place(dialect), in: network)
    }

    /// Faces have some of the same names.
    private static func place(_ dialect: DialectName) -> String { "dialects/\(dialect.rawValue)" }
}
