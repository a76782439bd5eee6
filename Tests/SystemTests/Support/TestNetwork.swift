import CarillonCore
import Crypto
import Foundation
import NIOHTTP1
import Testing

/// A network of a running service.
struct TestNetwork: Sendable {
    let id: String
    let adminKey: String
    let secret: WebhookSecret
    let userTokenSecret: String
    let client: TestClient

    /// Makes a network.
    init(_ id: String = "acme", on service: RunningService) async throws {
        let answer = try await service.call(.POST, "/v1/networks", ["id": .string(id), "displayName": "Acme"])
        try self.init(id, madeBy: answer, on: service)
    }

    /// A network that was made by a request.
    init(_ id: String, madeBy answer: TestClient.Answer, on service: RunningService) throws {
        try #require(answer.status == 201, "\(answer.text)")
        self.id = id
        adminKey = try #require(answer.json["apiKey"]?.text)
        secret = try #require(answer.json["webhookSecret"]?.text.flatMap(WebhookSecret.init))
        userTokenSecret = try #require(answer.json["userTokenSecret"]?.text)
        client = service.open
    }

    /// The same network on another process.
    func on(_ service: RunningService) -> TestNetwork { TestNetwork(self, client: service.open) }

    private init(_ network: TestNetwork, client: TestClient) {
        id = network.id
        adminKey = network.adminKey
        secret = network.secret
        userTokenSecret = network.userTokenSecret
        self.client = client
    }

    /// Calls as the admin.
    @discardableResult
    func send(
        _ method: HTTPMethod,
        _ path: String,
        _ body: JSONValue? = nil,
        expecting statuses: Set<UInt> = [200, 201, 202, 204],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> JSONValue {
        let answer = try await client.send(method, "/v1/networks/\(id)\(path)", token: adminKey, body: body?.serialized)
        try #require(
            statuses.contains(answer.status),
            "\(method) \(path): \(answer.status) \(answer.text)",
            sourceLocation: sourceLocation
        )
        return answer.json
    }

    /// Registers a device of the `log` provider.
    func addLogDevice(_ device: String, of user: String) async throws {
        try await send(.PUT, "/devices/\(device)", ["userId": .string(user), "provider": "log"])
    }

    /// Posts an event, signed; the status is the caller's to judge.
    func post(_ event: JSONValue) async throws -> TestClient.Answer {
        let id = event["id"]?.text ?? ""
        let timestamp = WallClock.system.now().milliseconds / 1000
        let body = event.serialized
        let headers = [
            "webhook-id": id, "webhook-timestamp": "\(timestamp)",
            "webhook-signature": WebhookSignature.sign(id: id, timestamp: timestamp, body: body, secrets: [secret]),
        ]
        return try await client.send(.POST, "/v1/networks/\(self.id)/events", headers: headers, body: body)
    }

    /// Posts an event that must be accepted; answers its id.
    func accept(_ event: JSONValue, sourceLocation: SourceLocation = #_sourceLocation) async throws -> String {
        let answer = try await post(event)
        try #require(answer.status == 202, "\(answer.status) \(answer.text)", sourceLocation: sourceLocation)
        return try #require(answer.json["id"]?.text, sourceLocation: sourceLocation)
    }

    /// Posts many events with one request; answers their ids when all are durable.
    func accept(_ events: [JSONValue]) async throws -> [String] {
        let answer = try await send(.POST, "/events", .array(events), expecting: [202])
        return answer["results"]?.elements.compactMap { $0["id"]?.text } ?? []
    }

    /// Waits until an event is done; answers its state.
    func done(_ event: String, within limit: Duration = .seconds(30)) async throws -> JSONValue {
        try await eventually(within: limit, "event \(event) being done") { () -> JSONValue? in
            let state = try await send(.GET, "/events/\(event)")
            guard state["state"]?.text == "done" else { return .none }
            return .some(state)
        }
    }
}

extension TestNetwork {
    /// A token of a user, signed with the network's secret as a chat backend does it.
    func userToken(for user: String, expiresIn seconds: Int = 600) -> String {
        let expiry = Int(Date().timeIntervalSince1970) + seconds
        let claims = #"{"sub":"\#(user)","aud":"carillon:\#(id)","exp":\#(expiry)}"#
        let signed = Self.base64URL(#"{"alg":"HS256"}"#.utf8) + "." + Self.base64URL(claims.utf8)
        let key = SymmetricKey(data: Array(userTokenSecret.utf8))
        return signed + "." + Self.base64URL(HMAC<SHA256>.authenticationCode(for: Array(signed.utf8), using: key))
    }

    private static func base64URL(_ bytes: some Sequence<UInt8>) -> String {
        Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    }
}

/// Events as a chat backend posts them; Alice does everything in the channel `general`.
enum TestEvents {
    static func channelCreated(_ id: String, members: [String]) -> JSONValue {
        event(id, "channel.created", "members", .array(members.map { ["id": .string($0)] }))
    }

    static func memberJoined(_ id: String, _ member: String) -> JSONValue {
        event(id, "member.joined", "members", [["id": .string(member)]])
    }

    static func messageSent(_ id: String, text: String = "Hello") -> JSONValue {
        event(id, "message.sent", "message", ["id": .string(id), "type": "text", "text": .string(text)])
    }

    private static func event(_ id: String, _ type: String, _ name: String, _ value: JSONValue) -> JSONValue {
        var data = JSONObject()
        data["channel"] = ["id": "general", "displayName": "General"]
        data["user"] = ["id": "alice", "displayName": "Alice"]
        data[name] = value
        return ["id": .string(id), "type": .string(type), "data": .object(data)]
    }
}
