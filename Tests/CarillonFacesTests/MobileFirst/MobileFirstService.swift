import CarillonCore
import CarillonEdge
import CarillonFaces
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
import _CryptoExtras

/// An answer, with its body read as JSON.
struct MobileFirstAnswer {
    let status: Int
    let headers: HTTPFields
    let json: JSONValue?

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        json = try? JSONValue(parsing: Array(response.body.readableBytesView))
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

    /// A string at a path.
    func text(_ path: String...) -> String? {
        let value = path.reduce(json) { value, step in
            if case .object(let object)? = value { object[step] } else { nil }
        }
        if case .string(let text)? = value { return text }
        return nil
    }

    /// Status and code in one.
    var refusal: String { "\(status) \(text("code") ?? "-")" }
}

/// A MobileFirst server's key.
enum MobileFirstIssuer {
    static let key = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }
    static let foreign = Result { try _RSA.Signing.PrivateKey(keySize: .bits2048) }

    /// A token as such a server makes them.
    static func token(
        _ claims: String,
        algorithm: String = "RS256",
        key: Result<_RSA.Signing.PrivateKey, any Error> = key
    ) throws -> String {
        let header = Base64URL.encode(#"{"alg":"\#(algorithm)","typ":"JWT"}"#.utf8)
        let signed = header + "." + Base64URL.encode(claims.utf8)
        let signature = try key.get().signature(for: Array(signed.utf8), padding: .insecurePKCS1v1_5)
        return signed + "." + Base64URL.encode(signature.rawRepresentation)
    }
}

/// The push service over a store in memory, with two networks: `acme` has bound `com.acme`, and `other` has bound `com.other`.
struct MobileFirstService {
    static let now = Timestamp(milliseconds: 1_795_521_600_000)  // 2026-11-24T12:00:00.000Z
    static let seconds = 1_795_521_600
    static let root = "/imfpush/v1/apps/com.acme/"
    static let secret = "a-secret-that-a-back-end-holds-since-long-ago"
    static let everything = [
        "devices.read", "devices.write", "subscriptions.read", "subscriptions.write", "tags.read", "tags.write",
        "messages.write", "push.application.com.acme",
    ]

    let client: any TestClientProtocol
    let store: MemoryStore
    let time: Locked<Timestamp>
    let accepted: Locked<[ParsedEvent]>

    /// Sends a request; a path that does not begin with a slash is one of the application's.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = nil,
        type: String = "application/json",
        headers: [String: String] = [:]
    ) async throws -> MobileFirstAnswer {
        var fields = HTTPFields()
        if let token { fields[.authorization] = "Bearer \(token)" }
        if body != nil { fields[.contentType] = type }
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        let uri = path.hasPrefix("/") ? path : Self.root + path
        let buffer = body.map { ByteBuffer(string: $0) }
        return MobileFirstAnswer(try await client.execute(uri: uri, method: method, headers: fields, body: buffer))
    }

    /// Adds a key and answers its secret.
    func addKey(_ name: String, _ rights: [String], of network: NetworkID = "acme") async throws -> String {
        let secret = "\(name)-\(network)-\(Self.secret)"
        let key = FaceKey(
            face: .imfpush,
            networkID: network,
            name: name,
            rights: JSONValue(rights),
            createdAt: Self.now
        )
        let stored = StoredFaceKey(key: key, proof: .hash(FaceIndex.hash(of: secret)))
        _ = try await store.addFaceKey(stored, answering: nil)
        return secret
    }

    /// Asks for a token.
    func token(_ id: String, _ secret: String, _ form: String = "grant_type=client_credentials") async throws
        -> MobileFirstAnswer
    {
        try await call(
            .post,
            "/mfp/api/az/v1/token",
            form,
            type: "application/x-www-form-urlencoded",
            headers: ["authorization": "Basic \(Data("\(id):\(secret)".utf8).base64EncodedString())"]
        )
    }

    /// A token of a new key.
    func backEnd(_ rights: [String] = everything, of network: NetworkID = "acme") async throws -> String {
        let name = "key-\(rights.hashValue)"
        return try #require(try await token(name, addKey(name, rights, of: network)).text("access_token"))
    }

    /// The token of an app that somebody uses.
    func app(_ user: String?) throws -> String {
        let claim = user.map { #""sub":"\#($0)","# } ?? ""
        return try MobileFirstIssuer.token(
            #"{"iss":"mfp",\#(claim)"exp":\#(Self.seconds + 60),"scope":"push.mobileclient"}"#
        )
    }

    /// Lets time pass.
    func advance(by duration: Duration) {
        time.value.withLock { $0 = $0 + duration }
    }

    /// How many messages were accepted.
    var acceptedCount: Int { accepted.value.withLock { $0.count } }

    /// What the last message became.
    var lastNotification: JSONValue? {
        guard let body = accepted.value.withLock({ $0.last?.body }) else { return nil }
        guard case .object(let event)? = try? JSONValue(parsing: body) else { return nil }
        return event["data"]
    }
}

/// A value that several tasks look at.
final class Locked<Value: Sendable>: Sendable {
    let value: Mutex<Value>

    init(_ initial: Value) {
        value = Mutex(initial)
    }
}

/// A service with its two networks.
func withMobileFirst(
    deviceRegistration: DeviceRegistrationProof = .appKey,
    settings: ServerSettings = ServerSettings(),
    setup: TestingSetup = .router,
    limits: NetworkLimits = NetworkLimits(),
    _ test: @Sendable (MobileFirstService) async throws -> Void
) async throws {
    let time = Locked(MobileFirstService.now)
    let clock = WallClock { time.value.withLock(\.self) }
    let store = MemoryStore(clock: clock)
    let accepted = Locked<[ParsedEvent]>([])
    let publicKey = try MobileFirstIssuer.key.get().publicKey.pemRepresentation
    for (id, application) in [("acme", "com.acme"), ("other", "com.other")] as [(NetworkID, String)] {
        var network = Network(id: id, createdAt: MobileFirstService.now)
        network.deviceRegistration = deviceRegistration
        network.limits = limits
        let credentials = NetworkCredentials(network: network, webhookSecrets: [], userTokenKeys: [], apiKeys: [])
        _ = try await store.createNetwork(credentials)
        let issuers: JSONValue = id == "acme" ? [["iss": "mfp", "publicKey": .string(publicKey)]] : []
        try await store.bind(application, to: id, issuers: issuers)
    }
    let services = try FaceServices(over: store, clock: clock) { events, network in
        accepted.value.withLock { $0 += events }
        return try await store.receipts(for: events, in: network, clock.now())
    }
    let face = MobileFirstFace(services)
    func addRoutes(_ router: Router<CarillonRequestContext>) {
        face.addRoutes(to: FaceRoutes(.imfpush, on: router, index: services.index))
    }
    let outline = Router(context: CarillonRequestContext.self)
    addRoutes(outline)
    let router = Router(context: CarillonRequestContext.self)
    router.addEdge(
        problems: ProblemMapping(),
        routes: RouteTable(outline),
        settings: settings,
        faces: [face],
        journal: services.journal,
        metrics: NOOPMetricsHandler.instance
    )
    addRoutes(router)
    try await Application(router: router, logger: services.logger).test(setup) { client in
        try await test(MobileFirstService(client: client, store: store, time: time, accepted: accepted))
    }
}

extension FaceServices {
    /// Everything over one store.
    fileprivate init(
        over store: MemoryStore,
        clock: WallClock,
        accept: @escaping @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    ) throws {
        let logger = Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        let rates = RequestRates()
        let cache = CredentialCache(accounts: store, announcements: Announcements(), logger: logger)
        self.init(
            index: { FaceIndex(try await store.faceList(unless: nil) ?? .empty) },
            faces: store,
            secret: FaceSecret(),
            authenticator: Authenticator(
                operatorToken: OperatorToken(Secret("operator-token-of-at-least-32-characters")),
                cache: cache,
                introspector: UserTokenIntrospector(asker: NobodyToAsk(), metrics: NOOPMetricsHandler.instance),
                rates: rates,
                pages: PagePlaces(connections: 6, processors: 4),
                clock: clock
            ),
            network: { try await cache.credentials(of: $0)?.network },
            accept: accept,
            devices: store,
            directory: store,
            tags: store,
            toggles: store,
            templates: TemplateBook(store),
            catalog: try TemplateCatalog(
                EventType.withTemplates.map {
                    try CompiledTemplate(TemplateSource(title: "%s", body: .one("x")), for: $0, locale: .english)
                }
            ),
            history: store,
            journal: Journal(store: store, clock: clock, logger: logger),
            credentials: store,
            credentialFormats: [],
            credentialChanged: { _, _, _ in },
            egress: .unrestricted,
            rates: rates,
            metrics: NOOPMetricsHandler.instance,
            logger: logger,
            clock: clock
        )
    }
}

extension MemoryStore {
    /// Binds an application.
    func bind(_ application: String, to network: NetworkID, issuers: JSONValue = []) async throws {
        let settings: JSONObject = [
            "A": ["appId": "ios.app", "environment": "sandbox"], "G": ["appId": "android.app", "senderId": "4711"],
            "issuers": issuers,
        ]
        let binding = FaceBinding(
            face: .imfpush,
            externalID: application,
            networkID: network,
            settings: settings,
            updatedAt: MobileFirstService.now
        )
        _ = try await putFaceBinding(binding, claiming: true)
    }

    /// Stores events as the ingest stage does, but one call after the other.
    fileprivate func receipts(for parsed: [ParsedEvent], in network: NetworkID, _ now: Timestamp) async throws
        -> [Receipt]
    {
        let ids = UUIDv7Generator(clock: WallClock { now })
        var receipts: [Receipt] = []
        for event in parsed {
            guard case .known(let known) = event.content else { continue }
            let incoming = IncomingEvent(
                networkID: network,
                id: EventID(ids.next()),
                receivedAt: now,
                event: known,
                body: event.body,
                leased: false
            )
            switch try await accept([incoming]).first {
            case .accepted(let id, _)?: receipts.append(Receipt(id: id, status: .accepted))
            case .duplicate(let id)?: receipts.append(Receipt(id: id, status: .duplicate))
            case nil: break
            }
        }
        return receipts
    }
}
