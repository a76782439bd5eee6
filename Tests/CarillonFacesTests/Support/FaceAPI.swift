import CarillonCore
import CarillonEdge
import CarillonFaces
import CarillonTesting
import CoreMetrics
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

/// Talks to one face over a store in memory, in which there is the network `acme`.
struct FaceAPI {
    static let now = Timestamp(milliseconds: 1_795_521_600_000)  // 2026-11-24T12:00:00.000Z
    static let operatorToken = "operator-token-of-at-least-32-characters"

    let client: any TestClientProtocol
    let store: MemoryStore
    let time: FaceTime
    let journal: Journal
    /// What was accepted, as it would be stored.
    let accepted: AcceptedEvents
    /// A key of role `admin` of the network.
    let adminKey: String
    /// What signs user tokens of the network.
    let userTokenSecret: String

    /// Sends a request; `body` is sent as JSON unless `headers` say otherwise.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> FaceAnswer {
        var fields = HTTPFields()
        if body != nil { fields[.contentType] = "application/json" }
        if let token { fields[.authorization] = "Bearer \(token)" }
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let buffer = body.map { ByteBuffer(string: $0) }
        return FaceAnswer(try await client.execute(uri: path, method: method, headers: fields, body: buffer))
    }

    /// A user token of the network.
    func token(for user: String = "alice", expiresIn seconds: Int64 = 600) -> String {
        FaceTokens.userToken(user, in: "acme", secret: userTokenSecret, expiresIn: seconds)
    }
}

/// An answer of the service, with its body read as JSON.
struct FaceAnswer {
    let status: Int
    let headers: HTTPFields
    let bytes: [UInt8]

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        bytes = Array(response.body.readableBytesView)
    }

    var text: String { String(decoding: bytes, as: UTF8.self) }

    var json: JSONValue? { try? JSONValue(parsing: bytes) }

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
}

/// A time that stands still until it is moved.
final class FaceTime: Sendable {
    private let time = Mutex(FaceAPI.now)

    var clock: WallClock { WallClock { [self] in time.withLock(\.self) } }

    /// The same time for what must not run backwards.
    var monotonic: @Sendable () -> ContinuousClock.Instant {
        let start = ContinuousClock.now
        return { start + .milliseconds(self.clock.now().milliseconds - FaceAPI.now.milliseconds) }
    }

    func advance(by duration: Duration) {
        time.withLock { $0 = $0 + duration }
    }
}

/// What a face handed in, one call after the other.
final class AcceptedEvents: Sendable {
    private let state = Mutex<(events: [ParsedEvent], failure: (any Error)?)>(([], nil))

    /// Everything so far.
    var events: [ParsedEvent] { state.withLock { $0.events } }

    /// Lets every call from now on fail.
    func fail(with error: any Error) { state.withLock { $0.failure = error } }

    func take(_ events: [ParsedEvent]) throws {
        try state.withLock { state in
            if let failure = state.failure { throw failure }
            state.events += events
        }
    }
}

/// A face over an empty store. Without any of `bindings` it is not there; `asker` answers about tokens that are none of
/// Carillon's.
func withFace(
    _ make: (FaceServices) -> any Face,
    bindings: [FaceBinding] = [],
    keys: [StoredFaceKey] = [],
    network: Network = Network(id: "acme", createdAt: FaceAPI.now),
    asker: any UserTokenAsker = NobodyToAsk(),
    settings: ServerSettings = ServerSettings(),
    _ test: @Sendable (FaceAPI) async throws -> Void
) async throws {
    let time = FaceTime()
    let store = MemoryStore(clock: time.clock)
    let (shown, adminKey) = APIKeySecret.make(for: network.id, role: .admin, label: nil, at: FaceAPI.now)
    let userTokenSecret = APIKeySecret.random(43)
    _ = try await store.createNetwork(
        NetworkCredentials(
            network: network,
            webhookSecrets: [],
            userTokenKeys: [.hs256(Secret(userTokenSecret))],
            apiKeys: [adminKey]
        )
    )
    let accepted = AcceptedEvents()
    let index = FaceIndex(FaceList(version: FaceList.Version(changes: 1), bindings: bindings, keys: keys))
    let rates = RequestRates(now: time.monotonic)
    let services = try FaceServices(
        over: store,
        index: index,
        time: time,
        rates: rates,
        asker: asker,
        accepted: accepted
    )
    let face = make(services)
    let outline = Router(context: CarillonRequestContext.self)
    face.addRoutes(to: FaceRoutes(face.name, on: outline) { index })
    let router = Router(context: CarillonRequestContext.self)
    router.addEdge(
        problems: ProblemMapping(),
        routes: RouteTable(outline),
        settings: settings,
        faces: [face],
        journal: services.journal,
        metrics: NOOPMetricsHandler.instance
    )
    router.add(middleware: RefusalRateMiddleware(rates: rates))
    face.addRoutes(to: FaceRoutes(face.name, on: router) { index })
    let application = Application(router: router, logger: .silent)
    try await application.test(.router) { client in
        try await test(
            FaceAPI(
                client: client,
                store: store,
                time: time,
                journal: services.journal,
                accepted: accepted,
                adminKey: shown.text,
                userTokenSecret: userTokenSecret
            )
        )
    }
}

extension FaceServices {
    /// Everything over one store.
    fileprivate init(
        over store: MemoryStore,
        index: FaceIndex,
        time: FaceTime,
        rates: RequestRates,
        asker: any UserTokenAsker,
        accepted: AcceptedEvents
    ) throws {
        let clock = time.clock
        let cache = CredentialCache(
            accounts: store,
            announcements: Announcements(),
            logger: .silent,
            now: time.monotonic
        )
        let ids = UUIDv7Generator()
        self.init(
            index: { index },
            faces: store,
            secret: FaceSecret(),
            authenticator: Authenticator(
                operatorToken: OperatorToken(Secret(FaceAPI.operatorToken)),
                cache: cache,
                introspector: UserTokenIntrospector(
                    asker: asker,
                    metrics: NOOPMetricsHandler.instance,
                    now: time.monotonic
                ),
                rates: rates,
                pages: PagePlaces(connections: 6, processors: 4),
                clock: clock
            ),
            network: { network in try await store.network(network) },
            accept: { events, _ in
                try accepted.take(events)
                return events.map { _ in Receipt(id: EventID(ids.next()), status: .accepted) }
            },
            devices: store,
            directory: store,
            tags: store,
            toggles: store,
            templates: TemplateBook(store),
            catalog: try .english,
            history: store,
            journal: Journal(store: store, clock: clock, logger: .silent),
            credentials: store,
            credentialFormats: [],
            credentialChanged: { _, _, _ in },
            egress: EgressGuard(allowing: [try CIDRBlock("127.0.0.1/32")]),
            rates: rates,
            metrics: NOOPMetricsHandler.instance,
            logger: .silent,
            clock: clock
        )
    }
}

extension Logger {
    /// Writes nothing.
    static let silent = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
}

extension TemplateCatalog {
    /// The English texts of the contract.
    static var english: TemplateCatalog {
        get throws {
            let texts: [(EventType, TemplateSource)] = [
                (.channelCreated, TemplateSource(title: "%s", body: .one("You're now member of %s!"))),
                (
                    .channelInvited,
                    TemplateSource(
                        title: "%1s",
                        body: .variants([.channel: "%1s invited you to %2s", .direct: "%1s invited you"])
                    )
                ),
                (
                    .memberJoined,
                    TemplateSource(
                        title: "%s",
                        body: .variants([.one: "%1s has joined %2s", .many: "%1s and %3s others have joined %2s"])
                    )
                ),
                (
                    .messageSent,
                    TemplateSource(
                        title: .variants([.channel: "%1s (%2s)", .direct: "%1s"]),
                        body: .variants([.text: "%s", .image: "Image Message", .other: "Special message"])
                    )
                ),
            ]
            return try TemplateCatalog(texts.map { try CompiledTemplate($1, for: $0, locale: .english) })
        }
    }
}
