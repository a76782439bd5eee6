import CarillonCore
import CarillonEdge
import CarillonTesting
import CoreMetrics
import Crypto
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

@testable import CarillonFaces

/// Talks to the face over a store in memory, in which network `acme` has bound `app1` and network `rival` `app2`.
struct AblyService {
    static let now = Timestamp(milliseconds: 1_795_521_600_000)
    static let secret = "the-secret-of-app1-0123456789"

    /// Keys by name, with what they allow.
    static let keys: [(name: String, network: NetworkID, rights: JSONValue)] = [
        ("app1.admin", "acme", ["*": ["*"], "[*]*": ["history"]]),
        ("app1.app", "acme", ["open:*": ["push-subscribe", "publish"]]),
        ("app1.rooms", "acme", ["open:rooms:*": ["push-admin"]]),
        ("app1.log", "acme", ["[meta]log:push": ["history"]]),
        ("app2.admin", "rival", ["*": ["*"]]),
        // A key that somebody made whose name begins like another network's application.
        ("app1.stolen", "rival", ["*": ["*"]]),
    ]

    let client: any TestClientProtocol
    let store: MemoryStore
    let secret: FaceSecret
    let accepted = AblyAccepted()
    let lanes: AblyLanes
    let time: AblyTime

    /// Sends a request; a body is JSON unless the headers say otherwise.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = AblyService.token(),
        headers: [String: String] = [:]
    ) async throws -> AblyReply {
        try await call(method, path, bytes: body.map { Array($0.utf8) }, as: token, headers: headers)
    }

    /// Sends a request with a body of some bytes.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes: [UInt8]?,
        as token: String? = AblyService.token(),
        headers: [String: String] = [:]
    ) async throws -> AblyReply {
        var fields = HTTPFields()
        if bytes != nil { fields[.contentType] = "application/json" }
        if let token { fields[.authorization] = "Bearer \(Base64URL.encode(token.utf8))" }
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let response = try await client.execute(
            uri: path,
            method: method,
            headers: fields,
            body: bytes.map { ByteBuffer(bytes: $0) }
        )
        return AblyReply(response)
    }

    /// A token of a key.
    static func token(
        _ key: String = "app1.admin",
        client: String? = nil,
        capability: JSONValue? = nil,
        lives seconds: Int = 600,
        secret: String = AblyService.secret,
        and more: JSONObject = [:]
    ) -> String {
        let issued = Int(now.milliseconds / 1000)
        var claims: JSONObject = ["iat": JSONValue(issued), "exp": JSONValue(issued + seconds)]
        claims["x-ably-clientId"] = client.map(JSONValue.string)
        claims["x-ably-capability"] = capability.map { .string($0.serializedText) }
        for (name, value) in more.members { claims[name] = value }
        return AblyToken.make(keyName: key, claims: claims, secret: Secret(secret))
    }

    /// A token of somebody's app.
    static func app(_ client: String? = "alice") -> String { token("app1.app", client: client) }
}

/// What the face handed in.
final class AblyAccepted: Sendable {
    private let state = Mutex<(events: [ParsedEvent], limit: Int?)>(([], nil))

    /// The events so far, as they would be stored.
    var bodies: [JSONValue] { state.withLock { $0.events }.compactMap { try? JSONValue(parsing: $0.body) } }

    /// The data of the events so far.
    var data: [JSONObject] {
        bodies.compactMap { body in
            guard case .object(let event) = body, case .object(let data)? = event["data"] else { return nil }
            return data
        }
    }

    /// The ids of the events so far.
    var sourceIDs: [String] { state.withLock { $0.events.map(\.sourceID) } }

    /// Whether all that was handed in can be read again as it was meant.
    var areReadable: Bool {
        state.withLock { $0.events }.allSatisfy { event in
            let stored = StoredEvent(
                body: event.body,
                sourceID: event.sourceID,
                receivedAt: AblyService.now,
                occurredAt: AblyService.now
            )
            guard case .event(let read) = stored, case .known(let known) = event.content else { return false }
            return read.direct == known.direct
        }
    }

    /// Lets every call fail beyond so many events.
    func fail(beyond limit: Int) { state.withLock { $0.limit = limit } }

    func take(_ events: [ParsedEvent]) throws {
        try state.withLock { state in
            if let limit = state.limit, state.events.count >= limit { throw Problem.serviceUnavailable() }
            state.events += events
        }
    }
}

/// Lanes that something is wrong with.
final class AblyLanes: Sendable {
    private let state = Mutex<[LaneStatus]>([])

    var statuses: [LaneStatus] { state.withLock(\.self) }

    func set(_ statuses: [LaneStatus]) { state.withLock { $0 = statuses } }
}

/// A time that stands still until it is moved.
final class AblyTime: Sendable {
    private let time = Mutex(AblyService.now)

    var clock: WallClock { WallClock { [self] in time.withLock(\.self) } }

    func advance(by duration: Duration) { time.withLock { $0 = $0 + duration } }
}

/// An answer with its body read, in whichever form it came.
struct AblyReply {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]
    let json: JSONValue?

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
        json =
            response.headers[.contentType] == "application/x-msgpack"
            ? try? MessagePackReader.value(of: bytes) : try? JSONValue(parsing: bytes)
    }

    /// The value at a path of member names and indices.
    subscript(path: String...) -> JSONValue? {
        path.reduce(json) { value, step in
            switch value {
            case .object(let object)?: object[step]
            case .array(let elements)?: Int(step).flatMap { elements.dropFirst($0).first }
            default: nil
            }
        }
    }

    /// A text at a path.
    func string(_ path: String...) -> String? {
        let value = path.reduce(json) { value, step in
            if case .object(let object)? = value { object[step] } else { nil }
        }
        guard case .string(let text)? = value else { return nil }
        return text
    }

    /// Status and Ably's code, as they stand in the body; the header has to say the same.
    var error: [Int] {
        guard case .number(let code)? = self["error", "code"], case .number(let inner)? = self["error", "statusCode"],
            headers[.ablyErrorCode] == code.literal, inner.integer == status, string("error", "message") != nil,
            string("error", "href")?.hasSuffix(code.literal) == true, headers[.ablyErrorMessage] != nil
        else { return [status] }
        return [status, code.integer ?? 0]
    }
}

/// The face over an empty store.
func withAbly(
    _ setup: TestingSetup = .router,
    namespaces: JSONObject = ["open": ["push": true]],
    limits: NetworkLimits = NetworkLimits(),
    _ test: @Sendable (AblyService) async throws -> Void
) async throws {
    let time = AblyTime()
    let store = MemoryStore(clock: time.clock)
    var bindings: [FaceBinding] = []
    for (id, app) in [("acme", "app1"), ("rival", "app2")] as [(NetworkID, String)] {
        let network = Network(id: id, limits: limits, createdAt: AblyService.now)
        _ = try await store.createNetwork(
            NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
        )
        let settings: JSONObject = [
            "ios": ["appId": "com.acme.chat", "environment": "production"], "android": ["appId": "com.acme.chat"],
            "namespaces": .object(namespaces),
        ]
        bindings.append(
            FaceBinding(face: .ably, externalID: app, networkID: id, settings: settings, updatedAt: AblyService.now)
        )
    }
    let keys = AblyService.keys.map { name, network, rights in
        StoredFaceKey(
            key: FaceKey(face: .ably, networkID: network, name: name, rights: rights, createdAt: AblyService.now),
            proof: .secret(Secret(AblyService.secret))
        )
    }
    let index = FaceIndex(FaceList(version: FaceList.Version(changes: 1), bindings: bindings, keys: keys))
    let secret = FaceSecret()
    let accepted = Mutex<AblyAccepted?>(nil)
    let rates = RequestRates()
    let lanes = AblyLanes()
    let services = try FaceServices(ably: store, index, secret, rates, lanes, time) { events in
        try accepted.withLock { $0 }?.take(events)
    }
    let face = AblyFace(services)
    let outline = Router(context: CarillonRequestContext.self)
    face.addRoutes(to: FaceRoutes(.ably, on: outline) { index })
    let router = Router(context: CarillonRequestContext.self, options: .autoGenerateHeadEndpoints)
    router.addEdge(
        problems: ProblemMapping(),
        routes: RouteTable(outline),
        settings: ServerSettings(),
        faces: [face],
        journal: services.journal,
        metrics: NOOPMetricsHandler.instance
    )
    router.add(middleware: RefusalRateMiddleware(rates: rates))
    face.addRoutes(to: FaceRoutes(.ably, on: router) { index })
    let application = Application(
        router: router,
        configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
        logger: .nowhere
    )
    try await application.test(setup) { client in
        let service = AblyService(client: client, store: store, secret: secret, lanes: lanes, time: time)
        accepted.withLock { $0 = service.accepted }
        try await test(service)
    }
}

extension FaceServices {
    fileprivate init(
        ably store: MemoryStore,
        _ index: FaceIndex,
        _ secret: FaceSecret,
        _ rates: RequestRates,
        _ lanes: AblyLanes,
        _ time: AblyTime,
        accept: @escaping @Sendable ([ParsedEvent]) throws -> Void
    ) throws {
        let ids = UUIDv7Generator()
        self.init(
            index: { index },
            faces: store,
            secret: secret,
            authenticator: Authenticator(
                operatorToken: OperatorToken(Secret("operator-token-of-at-least-32-characters")),
                cache: CredentialCache(accounts: store, announcements: Announcements(), logger: .nowhere),
                introspector: UserTokenIntrospector(asker: NobodyToAsk(), metrics: NOOPMetricsHandler.instance),
                rates: rates,
                pages: PagePlaces(connections: 6, processors: 4),
                clock: time.clock
            ),
            network: { try await store.network($0) },
            accept: { events, _ in
                try accept(events)
                return events.map { _ in Receipt(id: EventID(ids.next()), status: .accepted) }
            },
            devices: store,
            lanes: { lanes.statuses },
            directory: store,
            tags: store,
            toggles: store,
            templates: TemplateBook(store),
            catalog: try TemplateCatalog(
                [
                    (.channelCreated, TemplateSource(title: "%s", body: .one("%s"))),
                    (.channelInvited, TemplateSource(title: "%s", body: .one("%1s"))),
                    (.memberJoined, TemplateSource(title: "%s", body: .variants([.one: "%1s", .many: "%1s"]))),
                    (
                        .messageSent,
                        TemplateSource(
                            title: .variants([.channel: "%1s", .direct: "%1s"]),
                            body: .variants([.text: "%s", .image: "I", .other: "S"])
                        )
                    ),
                ].map { try CompiledTemplate($1, for: $0, locale: .english) }
            ),
            history: store,
            journal: Journal(store: store, clock: time.clock, logger: .nowhere),
            credentials: store,
            credentialFormats: [],
            credentialChanged: { _, _, _ in },
            egress: EgressGuard(allowing: []),
            rates: rates,
            metrics: NOOPMetricsHandler.instance,
            logger: .nowhere,
            clock: time.clock
        )
    }
}

extension Logger {
    fileprivate static let nowhere = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}
