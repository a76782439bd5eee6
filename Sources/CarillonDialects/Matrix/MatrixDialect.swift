import CarillonCore

/// The transactions that a Matrix homeserver sends to an application service (DIALECTS section 9).
struct MatrixDialect: EventDialect {
    /// Whether encrypted messages, of which nothing is known but that they are, are passed over.
    static let ignoreEncrypted = "ignoreEncrypted"
    /// Whether a change of name in one room is passed over: names are each room's own there.
    static let ignoreProfiles = "ignoreProfiles"

    /// Many times what a homeserver puts into a transaction.
    static let mostEvents = 10_000
    /// In bytes; several times what a homeserver lets an event be. What is larger is not even parsed.
    static let largestEvent = 256 << 10

    /// What others write as they like is not read another way.
    let hasEmojiNames = false
    let name = DialectName.matrix
    let mayHoldSeveral = true
    let answer = DialectAnswer.nothing
    /// Synapse puts up to 100 events into a transaction, of up to 64 KiB each and as much again of what they replace, and what is
    /// ephemeral besides. What is refused it repeats for ever.
    let largestBody: Int? = 16 << 20

    var switches: [String] { [Self.ignoreEncrypted, Self.ignoreProfiles] }

    /// Passes who shows the `hs_token`, in the header, in the query, or in both.
    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        var tokens: [String] = []
        if let header = try request.proof("authorization") {
            let parts = header.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "bearer" else {
                throw .unproven("Authorization must be a bearer token")
            }
            tokens.append(String(parts[1]))
        }
        if let parameter = try request.parameter("access_token") { tokens.append(parameter) }
        guard !tokens.isEmpty else { throw .unproven("the hs_token is missing") }
        guard tokens.allSatisfy({ Proof.isOne(of: document.secrets, $0) }) else {
            throw .unproven("the hs_token does not match")
        }
    }

    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading {
        guard let transaction = MatrixTransaction(post.bytes, upTo: Self.mostEvents) else {
            // Says where it is no JSON.
            _ = try post.object()
            throw .malformed("", "must be an object with one array of events")
        }
        guard let events = transaction.events else { throw .malformed("/events", "is required") }
        guard events.count <= Self.mostEvents else {
            throw .malformed("/events", "must hold at most \(Self.mostEvents)")
        }
        let reader = MatrixReader(settings: post.settings, clock: post.clock)
        let read = events.enumerated().map { index, range -> DialectEvent in
            guard range.count <= Self.largestEvent else {
                return .unreadable("event \(index + 1) cannot be read: it has more than \(Self.largestEvent) bytes")
            }
            do throws(JSONSyntaxError) {
                let json = try JSONValue(parsing: Array(post.bytes[range]), limits: DialectRequest.limits)
                return reader.event(json).named("event", index, of: events)
            } catch {
                return .unreadable("event \(index + 1) cannot be read: \(error.reason.rawValue)")
            }
        }
        return DialectReading(read, isList: true)
    }
}
