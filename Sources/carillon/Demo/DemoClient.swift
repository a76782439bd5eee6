import CarillonCore
import CarillonEdge
import CarillonWebhooks
import HTTPTypes
import NIOHTTP1
import PushHTTP

/// Speaks to a service as an operator, as an admin and as a chat backend, and shows each call in short as a `curl` line.
struct DemoClient: Sendable {
    /// A network's credentials, as they were shown once.
    struct Network: Sendable {
        let id: String
        let apiKey: String
        let webhookSecret: SigningSecret
        let userTokenSecret: Secret
    }

    typealias Answer = RunningService.Answer

    private static let timeout = Duration.seconds(10)
    private static let tokenLifetime = Duration.seconds(600)

    let service: RunningService
    let operatorToken: Secret
    let terminal: Terminal

    func asOperator(_ method: OutboundRequest.Method, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        show(method, path, ["authorization: Bearer $OPERATOR_TOKEN"], body)
        let headers: HTTPHeaders = ["authorization": operatorToken.reveal { "Bearer \($0)" }]
        return try await call(method, path, headers, body?.serialized)
    }

    /// Calls as a network's admin; what is shown instead of the body leaves its secrets out.
    func asAdmin(
        of network: Network,
        _ method: OutboundRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil,
        isShown: Bool = true,
        shown: JSONValue? = nil
    ) async throws -> Answer {
        let path = "/v1/networks/\(network.id)\(path)"
        if isShown { show(method, path, ["authorization: Bearer $ADMIN_KEY"], shown ?? body) }
        return try await call(method, path, ["authorization": "Bearer \(network.apiKey)"], body?.serialized)
    }

    /// Posts an event as a chat backend does: signed.
    func post(_ event: JSONValue, id: String, to network: Network) async throws -> Answer {
        let path = "/v1/networks/\(network.id)/events"
        let body = event.serialized
        let fields = Webhook(network.webhookSecret).sign(body, id: id)
        let signature = fields[.webhookSignature] ?? ""
        let shown = ["webhook-id: \(id)", "webhook-timestamp: $NOW", "webhook-signature: \(signature.prefix(10))…"]
        show(.post, path, shown, event)
        let headers = HTTPHeaders(fields.map { ($0.name.rawName, $0.value) })
        return try await call(.post, path, headers, body)
    }

    /// Calls as the app on somebody's phone does: by a token that the chat backend signed for them.
    func asApp(
        of user: String,
        in network: Network,
        _ method: OutboundRequest.Method,
        _ path: String,
        _ body: JSONValue? = nil
    ) async throws {
        let path = "/v1/networks/\(network.id)\(path)"
        show(method, path, ["authorization: Bearer $\(user.uppercased())S_TOKEN"], body?.shortened)
        let token = Self.token(for: user, in: network)
        let answer = try await call(method, path, ["authorization": "Bearer \(token)"], body?.serialized)
        guard answer.status < 300 else { throw StartError("\(method.rawValue) \(path) was answered \(answer.problem)") }
    }

    private static func token(for user: String, in network: Network) -> String {
        let now = WallClock.system.now()
        let token = UserToken.signed(
            for: UserID(trusted: user),
            in: NetworkID(trusted: network.id),
            issuedAt: now,
            until: now + tokenLifetime,
            by: network.userTokenSecret
        )
        return token.reveal(\.self)
    }

    private func call(
        _ method: OutboundRequest.Method,
        _ path: String,
        _ headers: HTTPHeaders,
        _ body: [UInt8]?
    ) async throws -> Answer {
        try await service.call(method, path, headers, body ?? [], timeout: Self.timeout)
    }

    private func show(_ method: OutboundRequest.Method, _ path: String, _ headers: [String], _ body: JSONValue?) {
        terminal.curl(method.rawValue, service.base + path, headers, body)
    }
}

extension Terminal {
    private static let longestLine = 240

    /// Shows a call in short, so that it can be pasted where the variables that it names are set and nothing was cut off.
    func curl(_ method: String, _ url: String, _ headers: [String], _ body: JSONValue?) {
        var text = "curl -X \(method) \(url)"
        for header in headers { text += " -H \"\(header)\"" }
        if let body { text += " -H 'content-type: application/json' -d '\(body.serializedText)'" }
        let shown = text.count > Self.longestLine ? text.prefix(Self.longestLine) + "…" : text[...]
        line("  " + styled(String(shown), .dim))
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
