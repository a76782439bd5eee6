import CarillonCore
import CarillonEdge
import CarillonFaces
import CarillonTesting
import Foundation
import HTTPTypes
import HummingbirdTesting
import Testing
import CryptoExtras

extension Answer {
    var refusal: String { "\(status) \(string("code") ?? "-")" }
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

/// The push service over a database with two networks: `acme` has bound `com.acme`, and `other` has bound `com.other`.
struct MobileFirstService {
    static let seconds = Int(FaceStage.now.milliseconds / 1000)
    static let root = "/imfpush/v1/apps/com.acme/"
    static let secret = "a-secret-that-a-back-end-holds-since-long-ago"
    static let everything = [
        "devices.read", "devices.write", "subscriptions.read", "subscriptions.write", "tags.read", "tags.write",
        "messages.write", "push.application.com.acme",
    ]

    let stage: FaceStage

    var store: StoreScene { stage.store }

    /// Sends a request; a path that does not begin with a slash is one of the application's.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = nil,
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let path = path.hasPrefix("/") ? path : Self.root + path
        return try await stage.call(method, path, body, as: token, headers: headers)
    }

    /// Adds a key and answers its secret.
    func addKey(_ name: String, _ rights: [String], of network: NetworkID = "acme") async throws -> String {
        let secret = "\(name)-\(network)-\(Self.secret)"
        let key = FaceKey(
            face: .imfpush,
            networkID: network,
            name: name,
            rights: JSONValue(rights),
            createdAt: FaceStage.now
        )
        let stored = StoredFaceKey(key: key, proof: .hash(SecretHash(of: secret)))
        _ = try await store.faces.addFaceKey(stored, answering: nil)
        return secret
    }

    /// Asks for a token.
    func token(_ id: String, _ secret: String, _ form: String = "grant_type=client_credentials") async throws
        -> Answer
    {
        try await call(
            .post,
            "/mfp/api/az/v1/token",
            form,
            headers: [
                "content-type": "application/x-www-form-urlencoded",
                "authorization": "Basic \(Data("\(id):\(secret)".utf8).base64EncodedString())",
            ]
        )
    }

    /// A token of a new key.
    func backEnd(_ rights: [String] = everything, of network: NetworkID = "acme") async throws -> String {
        let name = "key-\(rights.hashValue)"
        return try #require(try await token(name, addKey(name, rights, of: network)).string("access_token"))
    }

    /// The token of an app that somebody uses.
    func app(_ user: String?) throws -> String {
        let claim = user.map { #""sub":"\#($0)","# } ?? ""
        return try MobileFirstIssuer.token(
            #"{"iss":"mfp",\#(claim)"exp":\#(Self.seconds + 60),"scope":"push.mobileclient"}"#
        )
    }

    func bind(_ application: String, to network: NetworkID, issuers: JSONValue = []) async throws {
        let settings: JSONObject = [
            "A": ["appId": "ios.app", "environment": "sandbox"], "G": ["appId": "android.app", "senderId": "4711"],
            "issuers": issuers,
        ]
        let binding = FaceBinding(.imfpush, application, of: network, settings, at: FaceStage.now)
        _ = try await store.faces.putFaceBinding(binding, claiming: true)
    }

    /// How many messages were accepted.
    var acceptedCount: Int { stage.stub.handedIn.count }

    /// What the last message became.
    var lastNotification: JSONValue? {
        guard let body = stage.stub.handedIn.last?.body else { return nil }
        guard case .object(let event)? = try? JSONValue(parsing: body) else { return nil }
        return event["data"]
    }
}

func withMobileFirst(
    deviceRegistration: DeviceRegistrationProof = .appKey,
    settings: ServerSettings = ServerSettings(),
    setup: TestingSetup = .router,
    limits: NetworkLimits = NetworkLimits(),
    _ test: @Sendable (MobileFirstService) async throws -> Void
) async throws {
    let publicKey = try MobileFirstIssuer.key.get().publicKey.pemRepresentation
    let networks = (["acme", "other"] as [NetworkID]).map { id in
        var network = Network(id: id, createdAt: FaceStage.now)
        network.deviceRegistration = deviceRegistration
        network.limits = limits
        return network
    }
    try await withStage(
        { MobileFirstFace($0) },
        over: setup,
        networks: networks,
        readsStore: true,
        settings: settings
    ) { stage in
        let service = MobileFirstService(stage: stage)
        let issuers: JSONValue = [["iss": "mfp", "publicKey": .string(publicKey)]]
        try await service.bind("com.acme", to: "acme", issuers: issuers)
        try await service.bind("com.other", to: "other")
        try await test(service)
    }
}

extension Trait where Self == Lending<MobileFirstService> {
    /// A service with its two networks.
    static var mobileFirst: Self { Lending { try await withMobileFirst(setup: .router, $0) } }
}
