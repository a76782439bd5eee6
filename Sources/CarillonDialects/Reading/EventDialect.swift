package import CarillonCore

/// A chat backend's own webhooks, read as events (DIALECTS).
///
/// Pure: whoever calls has the bytes, and stores what comes of them. What a sender does not prove, or what cannot be read at all, is
/// refused; whatever else nothing can be made of is ignored with a reason, since senders try again, alarm or give up when they are
/// told of a mistake.
package protocol EventDialect: Sendable {
    var name: DialectName { get }
    /// What bodies may be; `nil` where the dialect finds out itself.
    var mediaTypes: [String]? { get }
    /// Whether its users write emoji by their short names.
    var hasEmojiNames: Bool { get }
    /// How many bytes a body may have where that is more than of events as a rule. Its sender proves who they are by the head alone then,
    /// before any of it is read.
    var largestBody: Int? { get }
    /// Whether one body may hold several events.
    var mayHoldSeveral: Bool { get }
    var answer: DialectAnswer { get }

    /// By what its sender proves who they are.
    var proof: SenderProof { get }
    /// The settings that are on or off, and off where nobody has said anything.
    var switches: [String] { get }

    /// What a document lacks for anybody to post without an API key.
    func missing(in document: DialectDocument) -> String?

    /// Reads what an admin says of how it is read, beside ``DialectSettings``; what is wrong is noted, and unknown members are the
    /// caller's to find.
    ///
    /// - Returns: The settings as they are to be stored and shown.
    func settings(from reader: inout JSONObjectReader) -> JSONObject

    /// Passes what a holder of one of the document's secrets has sent.
    ///
    /// - Throws: ``DialectRefusal/unproven(_:)``, or ``DialectRefusal/dropped(_:)``.
    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal)

    /// The body as an object, in whatever form it is written.
    func object(of request: DialectRequest) throws(DialectRefusal) -> JSONValue

    /// Reads a body as events.
    ///
    /// - Throws: ``DialectRefusal`` when it is no body of this dialect at all.
    func read(_ post: DialectPost) throws(DialectRefusal) -> DialectReading
}

/// By what senders prove who they are.
package enum SenderProof: Sendable {
    /// The HMAC-SHA256 of the body, in hexadecimal digits, in a header field.
    case signature(String, called: String)
    /// A user and password (RFC 7617).
    case basic
    /// One of the secrets as `token` in the body, which has to be read to find out who sends it.
    case token
    /// As the dialect's own ``EventDialect/verify(_:_:now:)`` has it.
    case own
}

/// What senders are told of events that are durable: a receipt for each, what became of each by their own id, or nothing.
package enum DialectAnswer: Sendable { case receipts, results, nothing }

extension EventDialect {
    var mediaTypes: [String]? { ["application/json"] }

    var hasEmojiNames: Bool { true }

    /// No more than of events as a rule.
    var largestBody: Int? { nil }
    var mayHoldSeveral: Bool { false }
    var answer: DialectAnswer { .receipts }
    var proof: SenderProof { .own }
    var switches: [String] { [] }

    /// Whether the body has to be read to find out who sends it.
    package var isProvenByBody: Bool { if case .token = proof { true } else { false } }

    func missing(in document: DialectDocument) -> String? {
        if case .basic = proof { return document.basic == nil ? "user and password" : nil }
        return document.secrets.isEmpty ? "secret" : nil
    }

    func settings(from reader: inout JSONObjectReader) -> JSONObject {
        JSONObject(switches.map { ($0, reader.bool($0).map(JSONValue.bool)) })
    }

    func object(of request: DialectRequest) throws(DialectRefusal) -> JSONValue { try request.object() }

    func verify(_ request: DialectRequest, _ document: DialectDocument, now: Timestamp) throws(DialectRefusal) {
        switch proof {
        case .signature(let header, let title):
            let signature = try request.proof(header, called: title)
            guard Proof.isSigned(request.body, by: document.secrets, Proof.bytes(hex: signature)) else {
                throw .unproven("\(title) does not match")
            }
        case .basic:
            guard let basic = document.basic else { throw .unproven("no user and password are set for the webhook") }
            try Proof.isBasic(request, basic)
        case .token:
            guard let token = try object(of: request)["token"]?.text else { throw .unproven("token is missing") }
            guard Proof.isOne(of: document.secrets, token) else { throw .unproven("token does not match") }
        case .own:
            throw .unproven("nothing proves who sent it")
        }
    }

    /// Reads a body as events, without those that the network does not want.
    package func events(
        of request: DialectRequest,
        _ settings: DialectSettings,
        now: Timestamp
    ) throws(DialectRefusal) -> DialectReading {
        var reading = try read(DialectPost(request: request, settings: settings, now: now))
        if hasEmojiNames { reading.events = reading.events.map(\.withEmoji) }
        let ignored = settings.ignoredSenders
        guard !ignored.isEmpty else { return reading }
        reading.events = reading.events.map { read in
            guard case .known(let event, _) = read.content, event.type == .messageSent, let sender = event.actor,
                ignored.contains(sender.id.rawValue)
            else { return read }
            var read = read
            read.content = .ignored("its sender is one of ignoreSenders")
            return read
        }
        return reading
    }
}
