import AsyncHTTPClient
import CarillonClient
import CarillonCore
import CarillonWebhooks
import Foundation
import HTTPTypes
import NIOCore
import NIOHTTP1

/// Speaks to a service as an operator, as an admin and as a chat backend, and shows each call in short as a `curl` line.
struct DemoClient: Sendable {
    /// A network's credentials, as they were shown once.
    struct Network: Sendable {
        let id: String
        let apiKey: String
        let webhookSecret: SigningSecret
        let userTokenSecret: Secret
    }

    /// An answer.
    struct Answer: Sendable {
        let status: UInt
        let body: JSONValue

        subscript(name: String) -> JSONValue? {
            if case .object(let object) = body { object[name] } else { nil }
        }
    }

    private static let timeout = TimeAmount.seconds(10)
    private static let maximumBytes = 1 << 20

    private let base: String
    private let operatorToken: Secret
    private let terminal: Terminal

    init(base: String, operatorToken: Secret, terminal: Terminal) {
        self.base = base
        self.operatorToken = operatorToken
        self.terminal = terminal
    }

    /// Calls as the operator.
    func asOperator(_ method: HTTPMethod, _ path: String, _ body: JSONValue? = nil) async throws -> Answer {
        show(method, path, ["authorization: Bearer $OPERATOR_TOKEN"], body)
        let headers = ["authorization": operatorToken.reveal { "Bearer \($0)" }]
        return try await call(method, path, headers, body?.serialized)
    }

    /// Calls as a network's admin; what is shown instead of the body leaves its secrets out.
    func asAdmin(
        of network: Network,
        _ method: HTTPMethod,
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
        show(.POST, path, ["webhook-id: \(id)", "webhook-signature: \(signature.prefix(10))…"], event)
        let headers = Dictionary(uniqueKeysWithValues: fields.map { ($0.name.rawName, $0.value) })
        return try await call(.POST, path, headers, body)
    }

    /// The app of somebody who is signed in.
    func app(of user: String, in network: Network) throws -> CarillonClient {
        try DemoApp.client(of: user, in: network, at: base, terminal)
    }

    private func call(
        _ method: HTTPMethod,
        _ path: String,
        _ headers: [String: String],
        _ body: [UInt8]?
    ) async throws -> Answer {
        var request = HTTPClientRequest(url: base + path)
        request.method = method
        request.headers = HTTPHeaders(headers.sorted { $0.key < $1.key })
        if let body {
            request.headers.add(name: "content-type", value: "application/json")
            request.body = .bytes(ByteBuffer(bytes: body))
        }
        let response = try await HTTPClient.shared.execute(request, timeout: Self.timeout)
        let bytes = Array(buffer: try await response.body.collect(upTo: Self.maximumBytes))
        let value = bytes.isEmpty ? JSONValue.null : try JSONValue(parsing: bytes)
        return Answer(status: response.status.code, body: value)
    }

    private func show(_ method: HTTPMethod, _ path: String, _ headers: [String], _ body: JSONValue?) {
        terminal.curl(method.rawValue, base + path, headers, body)
    }
}

extension Terminal {
    private static let longestLine = 240

    /// Shows a call in short.
    func curl(_ method: String, _ url: String, _ headers: [String], _ body: JSONValue?) {
        var text = "curl -X \(method) \(url)"
        for header in headers { text += " -H '\(header)'" }
        if let body { text += " -d '\(body.serializedText)'" }
        let shown = text.count > Self.longestLine ? text.prefix(Self.longestLine) + "…" : text[...]
        line("  " + styled(String(shown), .dim))
    }
}

extension JSONValue {
    /// The text of a string.
    var text: String? { if case .string(let text) = self { text } else { nil } }

    /// The elements of an array.
    var elements: [JSONValue] { if case .array(let elements) = self { elements } else { [] } }

    /// A member of an object.
    subscript(name: String) -> JSONValue? { if case .object(let object) = self { object[name] } else { nil } }
}
