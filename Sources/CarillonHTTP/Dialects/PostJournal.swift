import CarillonCore
import CarillonDialects
import CarillonEdge

/// What became of the last posts of each dialect: the first thing that somebody looks for who connects a backend. Without any text.
struct DialectJournal: Sendable {
    /// What became of a post.
    enum Verdict: String {
        case accepted
        case ignored
        case refused
    }

    private static let duplicate = "a duplicate of what was accepted before"
    private static let withoutMembers = "no members are known"

    let entries: Journal
    let history: any EventHistory

    /// Writes down that a post was refused.
    func refused(_ reason: String, _ status: Int, _ dialect: DialectName, in network: NetworkID) {
        let note = JournalNote(operation: Verdict.refused.rawValue, status: status, reason: reason)
        entries.record(note, of: Self.place(dialect), in: network)
    }

    /// Writes down what came of a post.
    func answered(_ reading: DialectReading, _ receipts: [Receipt], _ dialect: DialectName, in network: NetworkID) {
        let accepted = receipts.filter { $0.status == .accepted }
        let duplicate = receipts.first { $0.status == .duplicate }
        let unreadable = reading.events.contains(where: \.isUnreadable) ? reading.reason : nil
        let share =
            receipts.count > 1
            ? ["\(accepted.count) of \(receipts.count) events", unreadable].compactMap(\.self).joined(separator: "; ")
            : nil
        let note = JournalNote(
            operation: (accepted.isEmpty ? Verdict.ignored : .accepted).rawValue,
            status: 200,
            reason: !accepted.isEmpty ? share : duplicate != nil ? Self.duplicate : reading.reason,
            eventIDs: accepted.isEmpty ? duplicate.map { [$0.id] } ?? [] : accepted.map(\.id)
        )
        entries.record(note, of: Self.place(dialect), in: network)
    }

    /// What was written down, the newest first, with what has been found out since about messages that were accepted.
    func json(of dialect: DialectName, in network: NetworkID) async throws -> JSONValue {
        let recent = try await entries.entries(of: Self.place(dialect), in: network)
        let accepted = recent.filter { $0.note.operation == Verdict.accepted.rawValue }.flatMap(\.note.eventIDs)
        let unread = try await history.unreadMessages(among: Set(accepted), in: network)
        return .array(
            recent.map { entry in
                let note = entry.note
                let lacksMembers =
                    note.operation == Verdict.accepted.rawValue && note.eventIDs.contains(where: unread.contains)
                let reasons = [note.reason, lacksMembers ? Self.withoutMembers : nil].compactMap(\.self)
                return [
                    "at": JSONValue(entry.at), "verdict": .string(note.operation),
                    "reason": reasons.isEmpty ? .null : .string(reasons.joined(separator: "; ")),
                    "eventId": JSONValue(note.eventIDs.first?.description),
                ]
            }
        )
    }

    private static func place(_ dialect: DialectName) -> String { "dialects/\(dialect.rawValue)" }
}
