import CarillonCore
import CarillonTesting
import CoreMetrics
import HTTPTypes
import Hummingbird
import HummingbirdTesting
import NIOCore
import Testing

@testable import CarillonEdge
@testable import CarillonFaces

/// Talks to one face over a database of its own, in which there are the networks `acme` and `other` unless a test makes others.
struct FaceStage {
    static let now = Timestamp(milliseconds: 1_795_521_600_000)  // 2026-11-24T12:00:00.000Z
    static let networks = ["acme", "other"].map { id in
        Network(id: NetworkID(trusted: id), webPushHosts: WebPushHosts(["push.example.org"]), createdAt: now)
    }

    let client: any TestClientProtocol
    let database: TimedDatabase
    let stub: FaceStub
    let services: Services
    let face: any Face
    /// A key of role `admin` of the first network.
    let adminKey: String
    let userTokenSecret: String

    var store: StoreScene { database.stores }
    var journal: Journal { services.journal }
    var rates: RequestRates { services.rates }

    /// Sends a request; `body` is sent as JSON unless `headers` say otherwise.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await call(method, path, bytes: body.map { Array($0.utf8) }, as: token, headers: headers)
    }

    /// Sends a request with a body of some bytes.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes: [UInt8]?,
        as token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        Answer(try await client.call(method, path, bytes, as: token, headers: headers)) { bytes, headers in
            headers[.contentType] == "application/x-msgpack"
                ? try? MessagePackReader.value(of: bytes) : try? JSONValue(parsing: bytes)
        }
    }

    /// Lets time pass.
    func advance(by duration: Duration) async throws { try await database.advance(by: duration) }

    func device(_ id: DeviceID) async throws -> Device? { try await store.devices.device(id, in: "acme") }

    /// A user's devices in the network `acme`.
    func devices(of user: UserID) async throws -> [Device] {
        try await store.devices.devices(of: user, in: "acme", after: nil, limit: 9)
    }

    /// A user token of the network `acme`.
    func token(for user: String = "alice", expiresIn seconds: Int64 = 600) -> String {
        FaceTokens.userToken(user, in: "acme", secret: userTokenSecret, expiresIn: seconds)
    }

    /// Binds a name as an admin would.
    func bind(_ name: String, _ settings: String, to network: NetworkID = "acme") throws {
        let read = try #require(try self.settings(of: name, settings).settings)
        stub.add(FaceBinding(face.name, name, of: network, isPrivate: read.isPrivate, read.document, at: Self.now))
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
        let request = FaceKeyRequest(networkID: network, name: nil, secret: nil, label: nil, now: Self.now)
        var reader = JSONObjectReader(try JSONValue(parsing: body), unknown: .refuse, into: InputErrors())
        let key = try #require(face.makeKey(request, from: &reader))
        stub.add(key.stored)
        return key.shown
    }
}

/// Answers requests with one face. Without any of its bindings it is not there; `asker` answers about tokens that are none of
/// Carillon's.
///
/// - Parameters:
///   - make: Makes the face.
///   - transport: How requests come.
///   - networks: The networks.
///   - bindings: What the face is asked for, and by which network.
///   - keys: Its callers' keys.
///   - readsStore: Whether bindings and keys are those in the database instead.
///   - asker: Answers about users' tokens.
///   - settings: What the server is told.
///   - test: What happens.
/// - Throws: What `test` throws.
func withStage(
    _ make: (Services) -> any Face,
    over transport: TestingSetup = .router,
    networks: [Network] = FaceStage.networks,
    bindings: [FaceBinding] = [],
    keys: [StoredFaceKey] = [],
    readsStore: Bool = false,
    asker: any UserTokenAsker = NobodyToAsk(),
    settings: ServerSettings = ServerSettings(),
    _ test: @Sendable (FaceStage) async throws -> Void
) async throws {
    try await TimedDatabase.lend(from: FaceStage.now) { database in
        let (shown, adminKey) = APIKeySecret.make(for: networks[0].id, role: .admin, label: nil, at: FaceStage.now)
        let userTokenSecret = APIKeySecret.random(43)
        for network in networks {
            _ = try await database.stores.accounts.createNetwork(
                NetworkCredentials(
                    network: network,
                    webhookSecrets: [],
                    userTokenKeys: [.hs256(Secret(userTokenSecret))],
                    apiKeys: network.id == adminKey.key.networkID ? [adminKey] : []
                )
            )
        }
        let stub = FaceStub(bindings, keys)
        let services = try Services(over: database, stub, readsStore: readsStore, asker)
        let face = make(services)
        let application = Application(router: face.router(services, settings), logger: services.logger)
        try await application.test(transport) { client in
            try await test(
                FaceStage(
                    client: client,
                    database: database,
                    stub: stub,
                    services: services,
                    face: face,
                    adminKey: shown.text,
                    userTokenSecret: userTokenSecret
                )
            )
        }
    }
}

extension Face {
    /// Answers requests as the service does.
    fileprivate func router(_ services: Services, _ settings: ServerSettings) -> Router<CarillonRequestContext> {
        .behindEdge(settings: settings, faces: [self], journal: services.journal, metrics: services.metrics) { router in
            router.add(middleware: RefusalRateMiddleware(rates: services.rates))
            addRoutes(to: FaceRoutes(name, on: router, lookup: services.faceLookup))
        }
    }
}

extension Services {
    /// Everything over one database.
    fileprivate convenience init(
        over database: TimedDatabase,
        _ stub: FaceStub,
        readsStore: Bool,
        _ asker: any UserTokenAsker
    ) throws {
        let (store, clock) = (database.stores, database.time.clock)
        let ids = UUIDv7Generator(clock: clock)
        let recorder = StatisticsRecorder(clock: clock)
        self.init(
            accounts: store.accounts,
            directory: store.directory,
            devices: store.devices,
            toggles: store.toggles,
            tags: store.tags,
            templates: store.templates,
            catalog: try .english(),
            endpoints: store.endpoints,
            endpointsChanged: { _ in },
            endpointEnabled: { _ in },
            endpointCaller: NobodyToCall(),
            relays: store.relays,
            sources: store.sources,
            recipients: store.recipients,
            accept: { events, network in
                try stub.take(events)
                let receipts = try await store.ingest(events, in: network, ids, at: clock.now())
                // Who is reached by an address is found, or added, when the recipients are.
                let queries = zip(events, receipts).compactMap { event, receipt -> RecipientQuery? in
                    guard receipt.status == .accepted, case .known(let known) = event.content else { return nil }
                    return RecipientQuery(networkID: network, eventID: receipt.id, event: known)
                }
                let addressing = queries.filter { if case .addresses = $0.audience { true } else { false } }
                _ = try await store.recipients.recipients(for: addressing)
                return receipts
            },
            history: store.history,
            journal: Journal(store: store.journal, clock: clock, logger: TestDatabase.logger),
            recorder: recorder,
            statistics: StatisticsReader(recorder: recorder, store: store.statistics),
            reportSource: store.reportSource,
            placements: .onlyHome(store.reportSource),
            providers: [],
            lanes: { stub.lanes },
            stuckQueue: { _ in nil },
            releaseBrake: { _, _ in },
            credentials: store.credentials,
            credentialFormats: [],
            credentialChanged: { _, _, _ in },
            credentialConfirmed: { _, _, _ in },
            faceStore: store.faces,
            faceLookup: {
                readsStore
                    ? stub.lookup(in: try await store.faceList.faceList(unless: nil) ?? .empty) : stub.lookup()
            },
            facesChanged: { _ in },
            faceSecret: FaceSecret(),
            operatorToken: OperatorToken(Secret("operator-token-of-at-least-32-characters")),
            asker: asker,
            pages: PageSemaphore(connections: 6, processors: 4),
            announcements: Announcements(),
            egress: EgressGuard(),
            rates: RequestRates(now: database.time.monotonic),
            metrics: NOOPMetricsHandler.instance,
            logger: TestDatabase.logger,
            clock: clock,
            now: database.time.monotonic
        )
    }
}

extension Trait where Self == Lending<FaceStage> {
    /// A face that answers requests.
    static func stage(_ make: @escaping @Sendable (Services) -> any Face) -> Self {
        Lending { try await withStage(make, over: .router, $0) }
    }
}

/// Endpoints that no face calls.
private struct NobodyToCall: EndpointCaller {
    func call(_ call: EndpointCall) async -> EndpointAnswer {
        EndpointAnswer(.failure(.init(reason: "nobody is called")), time: .zero)
    }
}
