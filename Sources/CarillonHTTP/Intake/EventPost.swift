import CarillonCore
import CarillonDialects
import CarillonEdge
import HTTPTypes
import NIOCore
import NIOHTTP1

/// A post of events, with nothing about it that is unusual: its sender known, and read.
final class EventPost: IntakePost {
    /// The most events that one is read for.
    static let maximumEvents = 32

    let since = ContinuousClock.now
    let kind: PostAddress.Kind
    let network: Network
    let events: [ParsedEvent]
    /// How many events count against the network's rate.
    let weight: Int
    /// The id that the caller gave the request.
    let requestID: String?
    /// What a dialect has read; `nil` for what was written for Carillon.
    private let reading: DialectReading?

    /// Reads a request; `nil` for whatever is unusual or not right, or would have to be waited for.
    init?(_ head: HTTPRequestHead, _ body: ByteBuffer, _ services: Services, within settings: ServerSettings) {
        guard head.version == .http1_1, let address = PostAddress(head.uri),
            let fields = PostHead(head.headers, within: settings), address.kind.allows(fields),
            let senders = services.authenticator.rememberedSenders(of: address.networkID),
            services.rates.wait(of: senders.network) == nil
        else { return nil }
        let post = Unread(head: head, fields: fields, body: Array(body.readableBytesView), senders: senders)
        guard let reading = try? services.read(post, as: address.kind),
            (1...Self.maximumEvents).contains(reading.events.count)
        else { return nil }
        kind = address.kind
        network = senders.network
        events = reading.events.map { $0.traced(fields.trace) }
        self.reading = reading.dialect
        weight = reading.dialect?.knownCount ?? events.count
        requestID = fields.requestID
    }

    var networkID: NetworkID { network.id }
    var content: [ParsedEvent] { events }
    var size: Int { events.count }
    var route: String { kind.route }

    func answer(to receipts: [Receipt]) -> (status: HTTPResponse.Status, json: JSONValue)? {
        if case .dialect(let dialect) = kind, let reading { return dialect.answer(to: reading, receipts) }
        return (.accepted, receipts.first?.json(because: reasonToIgnore) ?? .null)
    }

    /// Writes down what became of it.
    func note(_ receipts: [Receipt], in journal: PostJournal) {
        switch kind {
        case .event: journal.answered(receipts, ignoring: reasonToIgnore, in: network.id)
        case .notification: break
        case .dialect(let dialect):
            if let reading { journal.answered(reading, receipts, dialect.name, in: network.id) }
        }
    }

    /// Why an event has no effect; `nil` when it has.
    private var reasonToIgnore: String? {
        if case .ignored(let type)? = events.first?.content { EventType.reasonToIgnore(type) } else { nil }
    }
}

extension PostAddress.Kind {
    /// Whether a body may be read as what the header fields say that it is.
    fileprivate func allows(_ fields: PostHead) -> Bool {
        if case .dialect(let dialect) = self { fields.allows(dialect.mediaTypes) } else { fields.isJSON }
    }
}

extension ParsedEvent {
    /// It as part of its request's trace, as ``Ingestor`` has it of requests with tasks of their own, unless it stands in another one.
    func traced(_ trace: TraceContext?) -> Self {
        guard let trace, case .known(var event) = content, event.trace == nil else { return self }
        event.trace = trace
        var traced = self
        traced.content = .known(event)
        return traced
    }
}

/// What arrived, and from whom it may be.
private struct Unread {
    var head: HTTPRequestHead
    var fields: PostHead
    var body: [UInt8]
    var senders: RememberedSenders

    /// Whether it is no array, whose elements share a commit anyway.
    var isObject: Bool { body.first { $0 > UInt8(ascii: " ") } == UInt8(ascii: "{") }

    var access: Access? { fields.authorization.flatMap(senders.access) }

    var isSigned: Bool { fields.signature.map { senders.haveSigned(body, $0) } ?? false }

    /// Whether an API key is shown by which events may be posted.
    ///
    /// - Throws: 403 for one of another role.
    func hasKey() throws(Problem) -> Bool {
        guard let access else { return false }
        try access.requireEvents()
        return true
    }
}

extension Services {
    fileprivate typealias Reading = (events: [ParsedEvent], dialect: DialectReading?)

    /// Reads a post whose sender is known; `nil`, or whatever error, where it has to go the long way.
    fileprivate func read(_ post: Unread, as kind: PostAddress.Kind) throws -> Reading? {
        switch kind {
        case .event: try event(post)
        case .notification: try notification(post)
        case .dialect(let dialect): try events(post, of: dialect)
        }
    }

    private func event(_ post: Unread) throws -> Reading? {
        guard post.isObject, try post.fields.authorization == nil ? post.isSigned : post.hasKey(),
            case .single(let event) = try EventParser(clock: clock)
                .parse(body: post.body, fallbackSourceID: post.fields.id)
        else { return nil }
        return ([event], nil)
    }

    private func notification(_ post: Unread) throws -> Reading? {
        guard post.isObject, let access = post.access else { return nil }
        try access.requireNotifications()
        let key = try IdempotencyKey.checked(post.fields.idempotencyKey, upTo: Identifier<Event>.maximumBytes)
        guard
            case .single(let notification) = try NotificationParser(self, of: access)
                .parse(post.body, key: key, by: access)
        else { return nil }
        return ([notification], nil)
    }

    private func events(_ post: Unread, of dialect: any EventDialect) throws -> Reading? {
        guard !Gunzip.isPacked(post.body) else { return nil }
        let document = post.senders.document(of: dialect.name)
        let request = DialectRequest(
            target: post.head.uri,
            headers: post.head.headers.map { (name: $0.name, value: $0.value) },
            body: post.body
        )
        let proof = DialectProof(
            to: dialect,
            authorization: post.fields.authorization,
            hasSignature: post.fields.hasSignature
        )
        if proof == .key {
            guard try post.hasKey() else { return nil }
        } else {
            // Nobody has anything read on an event loop before it is known who they are.
            guard let document, document.isEnabled, !dialect.isProvenByBody else { return nil }
            if proof == .signature {
                guard post.isSigned else { return nil }
            } else {
                try dialect.verify(request, document, now: clock.now())
            }
        }
        let reading = try DialectRequestReader.read(request, by: dialect, document, now: clock.now())
        return (reading.events.map(\.parsed), reading)
    }
}
