import CarillonCore
import CarillonEdge
import CarillonHTTP
import CarillonProviders
import CarillonTesting
import CoreMetrics
import Foundation
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import Logging
import NIOCore
import Synchronization
import Testing

extension Answer {
    /// The pointers of a problem's errors.
    var pointers: [String] {
        guard case .array(let errors)? = self["errors"] else { return [] }
        return errors.compactMap { error in
            guard case .object(let object) = error, case .string(let pointer)? = object["pointer"] else { return nil }
            return pointer
        }
    }

    /// The last part of a problem's type.
    var problem: String? {
        guard headers[.contentType] == "application/problem+json" else { return nil }
        return string("type")?.split(separator: "/").last.map(String.init)
    }

    var refusal: String { "\(status) \(problem ?? "-")" }
}

/// Talks to a service over a database of its own.
struct TestAPI {
    static let operatorToken = "operator-token-of-at-least-32-characters"
    static let formerOperatorToken = "former-operator-token-of-at-least-32-characters"
    static let now = Timestamp(milliseconds: 1_795_521_600_000)  // 2026-11-24T12:00:00.000Z

    let client: any TestClientProtocol
    let database: TimedDatabase
    let rates: RequestRates
    let dispatcher: RecordingDispatcher
    let caller: RecordingCaller
    let services: Services
    var journal: Journal { services.journal }

    var store: StoreScene { database.stores }
    var now: Timestamp { database.time.clock.now() }

    /// Sends a request; `body` is sent as JSON unless `type` says otherwise.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = nil,
        type: String? = "application/json",
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let bytes = body.map { Array($0.utf8) }
        return Answer(try await client.call(method, path, bytes, as: token, type: type, headers: headers))
    }

    func makeNetwork(_ id: String = "acme") async throws -> Credentials {
        let answer = try await call(.post, "/v1/networks", #"{"id":"\#(id)"}"#, as: Self.operatorToken)
        try #require(answer.status == 201)
        return Credentials(
            api: self,
            id: id,
            adminKey: try #require(answer.string("apiKey")),
            webhookSecret: try #require(answer.string("webhookSecret")),
            userTokenSecret: try #require(answer.string("userTokenSecret"))
        )
    }

    /// Makes another API key.
    func makeKey(_ role: String, in network: Credentials) async throws -> String {
        let answer = try await call(.post, network.path("api-keys"), #"{"role":"\#(role)"}"#, as: network.adminKey)
        try #require(answer.status == 201)
        return try #require(answer.string("apiKey"))
    }
}

/// What the operator got when a network was made.
struct Credentials {
    let api: TestAPI
    let id: String
    var adminKey: String
    var webhookSecret: String
    var userTokenSecret: String

    func path(_ rest: String) -> String { "/v1/networks/\(id)/\(rest)" }

    /// Sends a request as the network's admin; a path that does not begin with a slash is one of the network's.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        type: String? = "application/json",
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await call(method, path, body, as: adminKey, type: type, headers: headers)
    }

    /// Sends a request as somebody else.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String,
        type: String? = "application/json",
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let path = path.hasPrefix("/") ? path : self.path(path)
        return try await api.call(method, path, body, as: token, type: type, headers: headers)
    }

    /// The ids of all items of a list, page by page.
    func pagesOfIDs(in list: String, limit: Int) async throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let next = cursor.map { "&cursor=\($0)" } ?? ""
            let page = try await call(.get, "\(list)?limit=\(limit)\(next)")
            guard case .array(let items)? = page["items"] else { return pages }
            pages.append(items.indices.compactMap { page.string("items", "\($0)", "id") })
            cursor = page.string("next")
        } while cursor != nil && pages.count < 1_000
        return pages
    }
}

extension Trait where Self == Lending<TestAPI> {
    /// A service without networks.
    static var api: Self { Lending { try await withAPI(.router, $0) } }
}

extension Trait where Self == Lending<Credentials> {
    /// A service with the network `acme`.
    static var acme: Self { acme { try await withAPI(.router, $0) } }

    /// Some other service with the network `acme`.
    static func acme(
        _ open: @escaping @Sendable (_ test: @Sendable (TestAPI) async throws -> Void) async throws -> Void
    ) -> Self {
        Lending { test in try await open { api in try await test(try await api.makeNetwork()) } }
    }
}

/// Remembers what the dispatcher was told.
final class RecordingDispatcher: Sendable {
    private let calls = Mutex<[String]>([])

    /// Everything so far, in words.
    var told: [String] { calls.withLock(\.self) }

    func credentialChanged(_ network: NetworkID, _ provider: ProviderName, _ appID: String?) {
        calls.withLock { $0.append("changed \(network)/\(provider.rawValue)/\(appID ?? "*")") }
    }

    func credentialConfirmed(_ network: NetworkID, _ provider: ProviderName, _ appID: String?) {
        calls.withLock { $0.append("confirmed \(network)/\(provider.rawValue)/\(appID ?? "*")") }
    }

    func endpointsChanged(_ network: NetworkID) { calls.withLock { $0.append("endpoints of \(network) changed") } }

    func facesChanged(_ network: NetworkID) { calls.withLock { $0.append("faces of \(network) changed") } }

    func endpointEnabled(_ lane: Lane) { calls.withLock { $0.append("enabled \(lane)") } }

    func releaseBrake(_ lane: Lane, until end: Timestamp) {
        calls.withLock { $0.append("released \(lane) until \(end)") }
    }
}

/// A service over an empty database.
func withAPI(
    _ setup: TestingSetup = .router,
    settings: ServerSettings = ServerSettings(),
    lanes: [LaneStatus] = [],
    stuckQueue: StuckQueue? = nil,
    credentials: (StoreScene) -> any ProviderCredentialStore = { $0.credentials },
    console: ConsoleFiles? = nil,
    spools: SpoolDirectory = SpoolDirectory(path: NSTemporaryDirectory()),
    problems: ProblemMapping = ProblemMapping(),
    faces: @escaping @Sendable (Services) -> [any Face] = { _ in [] },
    asker: any UserTokenAsker = NobodyToAsk(),
    pages: PageSemaphore = PageSemaphore(connections: 6, processors: 4),
    logger: Logger = .silent,
    accepting: @escaping @Sendable ([ParsedEvent]) async throws -> Void = { _ in },
    _ test: @Sendable (TestAPI) async throws -> Void
) async throws {
    try await TimedDatabase.lend(from: TestAPI.now) { database in
        let rates = RequestRates(now: database.time.monotonic)
        let dispatcher = RecordingDispatcher()
        let caller = RecordingCaller()
        let services = try Services(
            over: database.stores,
            clock: database.time.clock,
            dispatcher: dispatcher,
            caller: caller,
            lanes: lanes,
            stuckQueue: stuckQueue,
            credentials: credentials(database.stores),
            asker: asker,
            pages: pages,
            rates: rates,
            accepting: accepting
        )
        let faces = faces(services)
        let intakes = LoopIntakes(services, faces: faces, settings: settings)
        let application = Application(
            router: PublicRouter.make(
                services,
                faces: faces,
                console: console,
                spools: spools,
                problems: problems,
                settings: settings
            ),
            server: settings.server(
                InboundConnections(settings, port: "test", metrics: NOOPMetricsHandler.instance),
                logger: .silent,
                intakes: { intakes.intakes(of: $0) },
                failures: services.failures
            ),
            configuration: settings.configuration(address: .hostname("127.0.0.1", port: 0)),
            logger: logger
        )
        try await application.test(setup) { client in
            let api = TestAPI(
                client: client,
                database: database,
                rates: rates,
                dispatcher: dispatcher,
                caller: caller,
                services: services
            )
            try await test(api)
        }
    }
}

extension PublicRouter {
    /// The router with short descriptions.
    static func make(
        _ services: Services,
        faces: [any Face] = [],
        console: ConsoleFiles? = nil,
        spools: SpoolDirectory = SpoolDirectory(path: NSTemporaryDirectory()),
        problems: ProblemMapping = ProblemMapping(),
        settings: ServerSettings = ServerSettings()
    ) -> Router<CarillonRequestContext> {
        make(
            services,
            faces: faces,
            openAPI: "openapi: 3.1.0\n",
            facesOpenAPI: "openapi: 3.1.0\ninfo:\n",
            console: console,
            spools: spools,
            problems: problems,
            settings: settings
        )
    }
}

extension Services {
    /// Everything over one database.
    convenience init(
        over store: StoreScene,
        clock: WallClock,
        dispatcher: RecordingDispatcher = RecordingDispatcher(),
        caller: RecordingCaller = RecordingCaller(),
        lanes: [LaneStatus] = [],
        stuckQueue: StuckQueue? = nil,
        credentials: (any ProviderCredentialStore)? = nil,
        asker: any UserTokenAsker = NobodyToAsk(),
        pages: PageSemaphore = PageSemaphore(connections: 6, processors: 4),
        rates: RequestRates = RequestRates(),
        accepting: @escaping @Sendable ([ParsedEvent]) async throws -> Void = { _ in }
    ) throws {
        let faces = Mutex<FaceLookup?>(nil)
        self.init(
            accounts: store.accounts,
            directory: store.directory,
            devices: store.devices,
            toggles: store.toggles,
            tags: store.tags,
            templates: store.templates,
            catalog: try .english(
                and: [
                    CompiledTemplate(
                        TemplateSource(title: "%2s: %1s", body: .variants([.image: "รูปภาพ"])),
                        for: .messageSent,
                        locale: try #require(LocaleTag("th"))
                    )
                ]
            ),
            endpoints: store.endpoints,
            endpointsChanged: { dispatcher.endpointsChanged($0) },
            endpointEnabled: { dispatcher.endpointEnabled($0) },
            endpointCaller: caller,
            relays: store.relays,
            sources: store.sources,
            recipients: store.recipients,
            accept: { parsed, network in
                try await accepting(parsed)
                return try await store.ingest(parsed, in: network, store.ids, at: clock.now())
            },
            history: store.history,
            journal: Journal(store: store.journal, clock: clock, logger: .silent),
            recorder: StatisticsRecorder(clock: clock),
            statistics: StatisticsReader(recorder: StatisticsRecorder(clock: clock), store: store.statistics),
            reportSource: store.reportSource,
            placements: .onlyHome(store.reportSource),
            providers: [.log, .webhook],
            lanes: { lanes },
            stuckQueue: { _ in stuckQueue },
            releaseBrake: { dispatcher.releaseBrake($0, until: $1) },
            credentials: credentials ?? store.credentials,
            credentialFormats: [.apns, .fcm(), .webpush],
            credentialChanged: { dispatcher.credentialChanged($0, $1, $2) },
            credentialConfirmed: { dispatcher.credentialConfirmed($0, $1, $2) },
            faceStore: store.faces,
            faceLookup: {
                let lookup = FaceLookup(FaceIndex(try await store.faceList.faceList(unless: nil) ?? .empty))
                faces.withLock { $0 = lookup }
                return lookup
            },
            rememberedFaces: { faces.withLock(\.self) },
            facesChanged: { network in
                faces.withLock { $0 = nil }
                dispatcher.facesChanged(network)
            },
            faceSecret: FaceSecret(),
            operatorToken: OperatorToken(
                Secret(TestAPI.operatorToken),
                previous: Secret(TestAPI.formerOperatorToken)
            ),
            asker: asker,
            pages: pages,
            announcements: Announcements(),
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

/// Remembers what endpoints were sent, and answers as it is told.
final class RecordingCaller: EndpointCaller {
    private let state = Mutex(
        (
            calls: [EndpointCall](),
            answer: EndpointAnswer(.success(.init(status: 204, body: [])), time: .milliseconds(12))
        )
    )

    /// Everything so far.
    var calls: [EndpointCall] { state.withLock(\.calls) }

    /// Has further calls answered like this.
    func answers(_ answer: EndpointAnswer) { state.withLock { $0.answer = answer } }

    func call(_ call: EndpointCall) async -> EndpointAnswer {
        state.withLock { state in
            state.calls.append(call)
            return state.answer
        }
    }
}
