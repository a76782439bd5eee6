import CarillonCore
import CarillonWebhooks
import HTTPTypes
import Hummingbird
import NIOCore
import Synchronization

/// A chat backend's own server, as somebody would write it: it takes what is signed and refuses the rest.
final class DemoServer: Sendable {
    /// Paths of the server, each with a secret of its own.
    enum Role: String, Sendable {
        /// A device of the webhook provider.
        case device
        /// An endpoint that is told of every event.
        case observe
        /// An endpoint that is asked about each notification before it goes out: it rewrites "darn" and stops "spam".
        case intercept
    }

    private struct State {
        var port: Int?
        var secrets: [Role: SigningSecret] = [:]
        var bodies: [Role: [JSONValue]] = [:]
    }

    private let state = Mutex(State())

    /// Where a role is reached, once the server listens.
    func url(of role: Role) -> String? {
        state.withLock { state in state.port.map { "http://127.0.0.1:\($0)/\(role.rawValue)" } }
    }

    func expect(_ secret: SigningSecret, for role: Role) {
        state.withLock { $0.secrets[role] = secret }
    }

    /// Everything that came with the right signature.
    func bodies(at role: Role) -> [JSONValue] {
        state.withLock { $0.bodies[role] ?? [] }
    }

    /// Listens until the task is cancelled.
    func run() async throws {
        let router = Router()
        router.post(":role") { request, context in
            try await self.answer(request, at: context.parameters.get("role").flatMap(Role.init(rawValue:)))
        }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in self.state.withLock { $0.port = channel.localAddress?.port } },
            logger: .silent
        )
        try await application.run()
    }

    private func answer(_ request: Request, at role: Role?) async throws -> Response {
        guard let role, let body = try await signedBody(of: request, at: role) else {
            return Response(status: .unauthorized)
        }
        state.withLock { $0.bodies[role, default: []].append(body) }
        let text = role == .intercept ? body["data"]?["notification"]?["body"]?.text ?? "" : ""
        if text.contains("spam") { return .answer(["action": "drop", "reason": "spam"]) }
        guard text.contains("darn") else { return Response(status: .noContent) }
        let milder = text.replacing("darn", with: "d***")
        return .answer(["action": "deliver", "notification": ["body": .string(milder)]])
    }

    /// The body; `nil` when it was not signed with the role's secret, or not lately.
    private func signedBody(of request: Request, at role: Role) async throws -> JSONValue? {
        guard let secret = state.withLock({ $0.secrets[role] }) else { return nil }
        let body = Array(buffer: try await request.body.collect(upTo: 1 << 20))
        do throws(WebhookError) {
            try Webhook(secret).verify(body, fields: request.headers)
        } catch {
            return nil
        }
        return try JSONValue(parsing: body)
    }
}

extension Response {
    fileprivate static func answer(_ json: JSONValue) -> Response {
        Response(
            status: .ok,
            headers: [.contentType: "application/json"],
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: json.serialized))
        )
    }
}
