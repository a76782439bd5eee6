import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes

/// What became of the last posts of events, Carillon's own and those of each dialect: the first thing that somebody looks for who connects
/// a backend. Without any text.
struct PostJournal: Sendable {
    enum Verdict: String {
        case accepted
        case duplicate
        case ignored
        case refused
    }

    enum Place: Sendable {
        /// `POST /events`.
        case native
        /// `POST /events/{dialect}`.
        case dialect(DialectName)

        fileprivate var name: String {
            switch self {
            case .native: "events"
            case .dialect(let dialect): "dialects/\(dialect.rawValue)"
            }
        }
    }

    private struct Post {
        var at: Timestamp
        var verdict: String
        var reasons: [String?]
        var event: EventID?

        var json: JSONValue {
            let reasons = reasons.compactMap(\.self)
            return [
                "at": JSONValue(at), "verdict": .string(verdict),
                "reason": reasons.isEmpty ? .null : .string(reasons.joined(separator: "; ")),
                "eventId": JSONValue(event?.description),
            ]
        }
    }

    private static let duplicate = "a duplicate of what was accepted before"
    private static let withoutMembers = "no members are known"
    /// How many events are looked at for those that were posted as Carillon's own.
    private static let mostEvents = 1_000

    let entries: Journal
    let history: any EventHistory

    /// Does something of a post, and writes down why it is refused.
    func watching<Value>(_ place: Place, in network: NetworkID, _ body: () async throws -> Value) async throws -> Value
    {
        do {
            return try await body()
        } catch {
            note(error, place, in: network)
            throw error
        }
    }

    /// Writes down why a post was refused, where it was.
    func note(_ error: any Error, _ place: Place, in network: NetworkID) {
        guard let problem = (error as? Problem) ?? (error as? InvalidInput).map(Problem.init) else { return }
        refused(problem.detail ?? problem.title, problem.status.code, place, in: network)
    }

    func refused(_ reason: String, _ status: Int, _ place: Place, in network: NetworkID) {
        let note = JournalNote(operation: Verdict.refused.rawValue, status: status, reason: reason)
        entries.record(note, of: place.name, in: network)
    }

    func answered(_ reading: DialectReading, _ receipts: [Receipt], _ dialect: DialectName, in network: NetworkID) {
        let unreadable = reading.events.contains(where: \.isUnreadable) ? reading.reason : nil
        write(receipts, .dialect(dialect), reading.reason, beside: unreadable, in: network)
    }

    /// Writes down what came of a post of events; `reason` is why the first of those that are ignored is. Where all were accepted there is
    /// nothing to write: events are read as they are, so that a post costs no row besides.
    func answered(_ receipts: [Receipt], ignoring reason: String?, in network: NetworkID) {
        guard receipts.contains(where: { $0.status != .accepted }) else { return }
        write(receipts, .native, reason, beside: reason, in: network)
    }

    private func write(
        _ receipts: [Receipt],
        _ place: Place,
        _ reason: String?,
        beside unread: String?,
        in network: NetworkID
    ) {
        let accepted = receipts.filter { $0.status == .accepted }
        let duplicate = receipts.first { $0.status == .duplicate }
        let share = receipts.count > 1 ? "\(accepted.count) of \(receipts.count) events" : nil
        let verdict = !accepted.isEmpty ? Verdict.accepted : duplicate != nil ? .duplicate : .ignored
        // What cannot be read is named whatever became of the rest.
        let told: [String?] =
            verdict == .accepted ? [share, unread] : duplicate != nil ? [Self.duplicate, unread] : [reason]
        let reasons = told.compactMap(\.self)
        let note = JournalNote(
            operation: verdict.rawValue,
            status: 200,
            reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "),
            eventIDs: accepted.isEmpty ? duplicate.map { [$0.id] } ?? [] : accepted.map(\.id)
        )
        entries.record(note, of: place.name, in: network)
    }

    /// What became of the last posts, the newest first, with what has been found out since about messages that were accepted.
    func json(of place: Place, in network: NetworkID) async throws -> JSONValue {
        let recent = try await entries.entries(of: place.name, in: network)
        let accepted = Set(
            recent.filter { $0.note.operation == Verdict.accepted.rawValue }.flatMap(\.note.eventIDs)
        )
        let unread = try await history.unreadMessages(among: accepted, in: network)
        var posts = recent.map { entry in
            let note = entry.note
            let lacksMembers =
                note.operation == Verdict.accepted.rawValue && note.eventIDs.contains(where: unread.contains)
            return Post(
                at: entry.at,
                verdict: note.operation,
                reasons: [note.reason, lacksMembers ? Self.withoutMembers : nil],
                event: note.eventIDs.first
            )
        }
        if case .native = place {
            posts += try await events(of: network).filter { !accepted.contains($0.id) }.map { event in
                let lacksMembers =
                    event.type == .messageSent && event.why.map(WhyNobody.withoutMembers.contains) ?? false
                return Post(
                    at: event.receivedAt,
                    verdict: Verdict.accepted.rawValue,
                    reasons: [lacksMembers ? Self.withoutMembers : nil],
                    event: event.id
                )
            }
            posts.sort { $0.at > $1.at }
        }
        return .array(posts.prefix(Journal.page).map(\.json))
    }

    /// The last events that came in as Carillon's own: those of dialects are told by their ids.
    private func events(of network: NetworkID) async throws -> [EventStatus] {
        var (found, looked, last): ([EventStatus], Int, EventID?) = ([], 0, nil)
        repeat {
            let page = try await history.events(
                in: network,
                matching: EventFilter(),
                before: last,
                limit: 2 * Journal.page
            )
            found += page.items.filter { $0.type != .notificationDirect && !Dialects.haveRead(sourceID: $0.sourceID) }
            looked += 2 * Journal.page
            last = page.next
        } while last != nil && found.count < Journal.page && looked < Self.mostEvents
        return found
    }
}
