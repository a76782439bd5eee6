import CarillonCore
import CarillonEdge
import CarillonWebhooks
import HTTPTypes
import NIOHTTP1
import PushHTTP

/// A network of the demo's, as its admin, its chat backend and its users' apps call it; most calls are shown.
struct DemoNetwork: Sendable {
    typealias Answer = RunningService.Answer

    private static let tokenLifetime = Duration.seconds(600)

    let stage: DemoStage
    let id: String
    let apiKey: String
    let webhookSecret: SigningSecret
    let userTokenSecret: Secret

    private var path: String { "/v1/networks/\(id)" }

    /// Calls as the network's admin; what is shown instead of the body leaves its secrets out.
    func asAdmin(
        _ method: OutboundRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil,
        shown: JSONValue? = nil
    ) async throws -> Answer {
        stage.show(method, self.path + path, ["authorization: Bearer $ADMIN_KEY"], shown ?? body)
        return try await ask(method, path, body)
    }

    /// Calls as the network's admin, and shows nothing.
    private func ask(_ method: OutboundRequest.Method, _ path: String, _ body: JSONValue? = nil) async throws -> Answer
    {
        try await stage.service.call(
            method,
            self.path + path,
            ["authorization": "Bearer \(apiKey)"],
            body?.serialized ?? []
        )
    }

    /// Replaces a document.
    /// - Throws: When it is not accepted.
    func put(_ path: String, _ body: JSONValue, shown: JSONValue? = nil) async throws {
        let answer = try await asAdmin(.put, path, body, shown: shown)
        guard answer.status == 200 || answer.status == 201 else { throw answer.unexpected("200 or 201") }
    }

    /// Calls as the app on somebody's phone does: by a token that the chat backend signed for them.
    func asApp(of user: String, _ method: OutboundRequest.Method, _ path: String, _ body: JSONValue? = nil) async throws
    {
        let path = self.path + path
        stage.show(method, path, ["authorization: Bearer $\(user.uppercased())S_TOKEN"], body?.shortened)
        let now = WallClock.system.now()
        let token = UserToken.signed(
            for: UserID(trusted: user),
            in: NetworkID(trusted: id),
            issuedAt: now,
            until: now + Self.tokenLifetime,
            by: userTokenSecret
        )
        let headers: HTTPHeaders = ["authorization": token.reveal { "Bearer \($0)" }]
        let answer = try await stage.service.call(method, path, headers, body?.serialized ?? [])
        guard answer.status < 300 else { throw StartError("\(method.rawValue) \(path) was answered \(answer.problem)") }
    }

    /// Posts an event as a chat backend does: signed. Answers its id, and its state when it is done.
    func post(_ event: JSONValue) async throws -> (id: String, state: Answer) {
        let body = event.serialized
        let fields = Webhook(webhookSecret).sign(body, id: event["id"]?.text ?? "")
        let shown = [
            "webhook-id: \(fields[.webhookID] ?? "")", "webhook-timestamp: $NOW",
            "webhook-signature: \((fields[.webhookSignature] ?? "").prefix(10))…",
        ]
        stage.show(.post, "\(path)/events", shown, event)
        let headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        return try await finished(try await stage.service.call(.post, "\(path)/events", headers, body))
    }

    /// Posts a direct notification, and waits until it is done.
    func notify(_ notification: JSONValue) async throws {
        _ = try await finished(try await asAdmin(.post, "/notifications", notification))
    }

    private func finished(_ accepted: Answer) async throws -> (id: String, state: Answer) {
        guard accepted.status == 202, let id = accepted["id"]?.text else { throw accepted.unexpected("a 202") }
        let state = try await DemoStage.waitFor("the end of the event") {
            let answer = try await ask(.get, "/events/\(id)")
            return answer["state"]?.text == "done" ? answer : nil
        }
        return (id, state)
    }

    func deliveries(of event: String) async throws -> [JSONValue] {
        try await ask(.get, "/events/\(event)/deliveries")["items"].elements
    }

    /// What becomes of an event for a user, and why.
    func explain(_ event: JSONValue, for user: String) async throws -> JSONValue {
        try await ask(.post, "/explain", ["event": event, "userId": .string(user)]).body
    }
}

extension RunningService.Answer {
    /// What to throw for another answer than was expected.
    func unexpected(_ expectation: String) -> StartError {
        StartError("expected \(expectation), got \(status): \(body["detail"]?.text ?? "")")
    }
}

extension JSONValue {
    private static let longestString = 40

    /// The same with tokens and keys cut off.
    fileprivate var shortened: JSONValue {
        switch self {
        case .string(let text) where text.count > Self.longestString: .string("\(text.prefix(8))…")
        case .array(let elements): .array(elements.map(\.shortened))
        case .object(let object):
            .object(object.members.reduce(into: JSONObject()) { $0[$1.0] = $1.1.shortened })
        default: self
        }
    }
}
