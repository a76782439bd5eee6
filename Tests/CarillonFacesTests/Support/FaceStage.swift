import CarillonCore
import CarillonTesting
import CoreMetrics
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

@testable import CarillonEdge
@testable import CarillonFaces

/// A face over a store in memory, with a network of the name `acme` and one of the name `other`.
struct FaceStage {
    static let start = Timestamp(milliseconds: 1_795_521_600_000)

    /// An answer, with its body read as JSON.
    struct Answer {
        let status: Int
        let headers: HTTPFields
        let json: JSONValue?

        /// A member of the body.
        subscript(key: String) -> JSONValue? {
            guard case .object(let object)? = json else { return nil }
            return object[key]
        }
    }

    /// What the face is given, and what it gave.
    final class Book: Sendable {
        private struct State {
            var now = FaceStage.start
            var list = FaceList(version: .init(changes: 0), bindings: [], keys: [])
            var accepted: [ParsedEvent] = []
            var calls = 0
            var failure: (any Error)?
            var lanes: [LaneStatus] = []
        }

        private let state = Mutex(State())

        var clock: WallClock { WallClock { [self] in state.withLock(\.now) } }
        var monotonic: @Sendable () -> ContinuousClock.Instant {
            let start = ContinuousClock.now
            return { [self] in start + (state.withLock(\.now) - FaceStage.start) }
        }
        var index: FaceIndex { FaceIndex(state.withLock(\.list)) }
        var lanes: [LaneStatus] {
            get { state.withLock(\.lanes) }
            set { state.withLock { $0.lanes = newValue } }
        }
        /// What was accepted, each once.
        var accepted: [ParsedEvent] { state.withLock(\.accepted) }
        /// How many calls accepted it.
        var calls: Int { state.withLock(\.calls) }
        /// What happens to whoever has something accepted from now on.
        func fail(with error: (any Error)?) { state.withLock { $0.failure = error } }
        func advance(by duration: Duration) { state.withLock { $0.now = $0.now + duration } }
        func add(_ binding: FaceBinding) { state.withLock { $0.list.bindings.append(binding) } }
        func add(_ key: StoredFaceKey) { state.withLock { $0.list.keys.append(key) } }

        fileprivate func accept(_ events: [ParsedEvent]) throws -> [Bool] {
            try state.withLock { state in
                if let failure = state.failure { throw failure }
                state.calls += 1
                return events.map { event in
                    guard !state.accepted.contains(where: { $0.sourceID == event.sourceID }) else { return false }
                    state.accepted.append(event)
                    return true
                }
            }
        }
    }

    let client: any TestClientProtocol
    let store: MemoryStore
    let book: Book
    let journal: Journal
    let face: any Face

    /// Sends a request from an address behind a proxy on this machine.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        headers: HTTPFields = [:]
    ) async throws -> Answer {
        var headers = headers
        if body != nil, headers[.contentType] == nil { headers[.contentType] = "application/json" }
        let buffer = body.map { ByteBuffer(string: $0) }
        let response = try await client.execute(uri: path, method: method, headers: headers, body: buffer)
        return Answer(
            status: response.status.code,
            headers: response.headers,
            json: try? JSONValue(parsing: Array(response.body.readableBytesView))
        )
    }

    /// Binds a name as an admin would.
    func bind(_ name: String, _ settings: String, to network: NetworkID = "acme") throws {
        let read = try #require(try self.settings(of: name, settings).settings)
        book.add(
            FaceBinding(
                face: face.name,
                externalID: name,
                networkID: network,
                isPrivate: read.isPrivate,
                settings: read.document,
                updatedAt: Self.start
            )
        )
    }

    /// What is made of an admin's body, and what is wrong with it.
    func settings(of name: String, _ body: String) throws -> (settings: FaceSettings?, wrong: [FieldError]) {
        let errors = InputErrors()
        var reader = JSONObjectReader(try JSONValue(parsing: body), unknown: .refuse, into: errors)
        let settings = face.settings(of: name, from: &reader)
        reader.finish()
        return (errors.isEmpty ? settings : nil, errors.errors)
    }

    /// Makes a key; answers what its holder is shown.
    func makeKey(_ body: String = "{}", of network: NetworkID = "acme") throws -> JSONObject {
        let request = FaceKeyRequest(networkID: network, name: nil, secret: nil, label: nil, now: Self.start)
        var reader = JSONObjectReader(try JSONValue(parsing: body), unknown: .refuse, into: InputErrors())
        let key = try #require(face.makeKey(request, from: &reader))
        book.add(key.stored)
        return key.shown
    }
}

/// Answers requests with one face.
func withStage(
    _ make: @Sendable (FaceServices) -> any Face,
    settings: ServerSettings = ServerSettings(),
    over transport: TestingSetup = .router,
    _ test: @Sendable (FaceStage) async throws -> Void
) async throws {
    let book = FaceStage.Book()
    let store = MemoryStore(clock: book.clock)
    for id in ["acme", "other"] as [NetworkID] {
        _ = try await store.createNetwork(
            NetworkCredentials(
                network: Network(id: id, webPushHosts: WebPushHosts(["push.example.org"]), createdAt: FaceStage.start),
                webhookSecrets: [],
                userTokenKeys: [],
                apiKeys: []
            )
        )
    }
    let services = try FaceServices(over: store, book)
    let face = make(services)
    let outline = Router(context: CarillonRequestContext.self)
    face.addRoutes(to: FaceRoutes(face.name, on: outline) { book.index })
    let router = Router(context: CarillonRequestContext.self)
    router.addEdge(
        problems: ProblemMapping(),
        routes: RouteTable(outline),
        settings: settings,
        faces: [face],
        journal: services.journal,
        metrics: NOOPMetricsHandler.instance
    )
    face.addRoutes(to: FaceRoutes(face.name, on: router) { book.index })
    let application = Application(router: router, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
    try await application.test(transport) { client in
        try await test(FaceStage(client: client, store: store, book: book, journal: services.journal, face: face))
    }
}

extension FaceServices {
    /// Everything over one store, with what is accepted written into a book.
    fileprivate init(over store: MemoryStore, _ book: FaceStage.Book) throws {
        let ids = UUIDv7Generator()
        let rates = RequestRates(now: book.monotonic)
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let cache = CredentialCache(accounts: store, announcements: Announcements(), logger: logger)
        self.init(
            index: { book.index },
            faces: store,
            secret: FaceSecret(),
            authenticator: Authenticator(
                operatorToken: OperatorToken(Secret("operator-token-of-at-least-32-characters")),
                cache: cache,
                introspector: UserTokenIntrospector(
                    asker: NobodyToAsk(),
                    metrics: NOOPMetricsHandler.instance,
                    now: book.monotonic
                ),
                rates: rates,
                pages: PagePlaces(connections: 6, processors: 4),
                clock: book.clock
            ),
            network: { try await cache.credentials(of: $0)?.network },
            accept: { events, network in
                let isNew = try book.accept(events)
                // Who is reached by an address is found, or added, when the recipients are.
                let queries = zip(events, isNew).compactMap { event, isNew -> RecipientQuery? in
                    guard isNew, case .known(let event) = event.content else { return nil }
                    return RecipientQuery(networkID: network, eventID: EventID(ids.next()), event: event)
                }
                if !queries.isEmpty { _ = try await store.recipients(for: queries) }
                return isNew.map { Receipt(id: EventID(ids.next()), status: $0 ? .accepted : .duplicate) }
            },
            devices: store,
            lanes: { book.lanes },
            directory: store,
            tags: store,
            toggles: store,
            templates: TemplateBook(store),
            catalog: try .english,
            history: store,
            journal: Journal(store: store, clock: book.clock, logger: logger),
            credentials: store,
            credentialFormats: [],
            credentialChanged: { _, _, _ in },
            egress: EgressGuard(),
            rates: rates,
            metrics: NOOPMetricsHandler.instance,
            logger: logger,
            clock: book.clock
        )
    }
}
