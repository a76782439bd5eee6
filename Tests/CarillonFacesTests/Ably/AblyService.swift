import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CarillonFaces

/// Talks to the face over a database in which network `acme` has bound `app1` and network `rival` `app2`.
struct AblyService {
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

    let stage: FaceStage

    var store: StoreScene { stage.store }
    var stub: FaceStub { stage.stub }

    /// Sends a request; a body is JSON unless the headers say otherwise.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        _ body: String? = nil,
        as token: String? = AblyService.token(),
        headers: [String: String] = [:]
    ) async throws -> Answer {
        try await call(method, path, bytes: body.map { Array($0.utf8) }, as: token, headers: headers)
    }

    /// Sends a request with a body of some bytes.
    func call(
        _ method: HTTPRequest.Method,
        _ path: String,
        bytes: [UInt8]?,
        as token: String? = AblyService.token(),
        headers: [String: String] = [:]
    ) async throws -> Answer {
        let token = token.map { Base64URL.encode($0.utf8) }
        return try await stage.call(method, path, bytes: bytes, as: token, headers: headers)
    }

    static func token(
        _ key: String = "app1.admin",
        client: String? = nil,
        capability: JSONValue? = nil,
        lives seconds: Int = 600,
        secret: String = AblyService.secret,
        and more: JSONObject = [:]
    ) -> String {
        let issued = Int(FaceStage.now.milliseconds / 1000)
        var claims: JSONObject = ["iat": JSONValue(issued), "exp": JSONValue(issued + seconds)]
        claims["x-ably-clientId"] = client.map(JSONValue.string)
        claims["x-ably-capability"] = capability.map { .string($0.serializedText) }
        for (name, value) in more.members { claims[name] = value }
        return AblyToken.make(keyName: key, claims: claims, sign: Secret(secret).code)
    }

    /// A token of somebody's app.
    static func app(_ client: String? = "alice") -> String { token("app1.app", client: client) }
}

extension FaceStub {
    /// The events so far, as they would be stored.
    var bodies: [JSONValue] { handedIn.compactMap { try? JSONValue(parsing: $0.body) } }

    /// The data of the events so far.
    var data: [JSONObject] {
        bodies.compactMap { body in
            guard case .object(let event) = body, case .object(let data)? = event["data"] else { return nil }
            return data
        }
    }

    /// The ids of the events so far.
    var sourceIDs: [String] { handedIn.map(\.sourceID) }

    /// Whether all that was handed in can be read again as it was meant.
    var areReadable: Bool {
        handedIn.allSatisfy { event in
            let stored = StoredEvent(
                body: event.body,
                sourceID: event.sourceID,
                receivedAt: FaceStage.now,
                occurredAt: FaceStage.now
            )
            guard case .event(let read) = stored, case .known(let known) = event.content else { return false }
            return read.direct == known.direct
        }
    }
}

extension Answer {
    /// Status and Ably's code, as they stand in the body; the header has to say the same.
    var error: [Int] {
        guard case .number(let code)? = self["error", "code"], case .number(let inner)? = self["error", "statusCode"],
            headers[.ablyErrorCode] == code.literal, inner.integer == status, string("error", "message") != nil,
            string("error", "href")?.hasSuffix(code.literal) == true, headers[.ablyErrorMessage] != nil
        else { return [status] }
        return [status, code.integer ?? 0]
    }
}

/// The face over an empty database.
func withAbly(
    _ setup: TestingSetup = .router,
    namespaces: JSONObject = ["open": ["push": true]],
    limits: NetworkLimits = NetworkLimits(),
    _ test: @Sendable (AblyService) async throws -> Void
) async throws {
    let settings: JSONObject = [
        "ios": ["appId": "com.acme.chat", "environment": "production"], "android": ["appId": "com.acme.chat"],
        "namespaces": .object(namespaces),
    ]
    try await withStage(
        { AblyFace($0) },
        over: setup,
        networks: ["acme", "rival"].map { Network(id: $0, limits: limits, createdAt: FaceStage.now) },
        bindings: [("app1", "acme"), ("app2", "rival")].map { app, network in
            FaceBinding(.ably, app, of: network, settings, at: FaceStage.now)
        },
        keys: AblyService.keys.map { name, network, rights in
            StoredFaceKey(
                key: FaceKey(face: .ably, networkID: network, name: name, rights: rights, createdAt: FaceStage.now),
                proof: .secret(Secret(AblyService.secret))
            )
        }
    ) { stage in try await test(AblyService(stage: stage)) }
}

extension Trait where Self == Lending<AblyService> {
    /// The face over an empty database.
    static var ably: Self { Lending { try await withAbly(.router, $0) } }
}
