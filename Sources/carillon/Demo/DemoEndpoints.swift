import CarillonCore
import CarillonProviders
import CarillonWebhooks
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// A chat backend's own server, as somebody would write it: one endpoint that is told of everything, and one that has a say
/// about each notification before it goes out.
final class DemoEndpoints: Sendable {
    enum Role: String, CaseIterable, Sendable {
        /// Is told of every event.
        case observe
        /// Rewrites "darn" and stops "spam".
        case intercept
    }

    private struct State {
        var port: Int?
        var secrets: [Role: SigningSecret] = [:]
        var seen: [JSONValue] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Where a role's endpoint is, once the server listens.
    func url(of role: Role) -> String? {
        state.withLock { state in state.port.map { "http://127.0.0.1:\($0)/\(role.rawValue)" } }
    }

    /// The secret with which to verify what a role's endpoint gets.
    func expect(_ secret: SigningSecret, for role: Role) {
        state.withLock { $0.secrets[role] = secret }
    }

    /// What the observer was told of an event, by the sender's id.
    func seen(_ sourceID: String) -> JSONValue? {
        state.withLock { $0.seen }.first { $0["id"]?.text == sourceID }
    }

    /// Listens until the task is cancelled.
    func run() async throws {
        let router = Router()
        router.post("/observe") { request, _ in try await self.observe(request) }
        router.post("/intercept") { request, _ in try await self.intercept(request) }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in self.state.withLock { $0.port = channel.localAddress?.port } },
            logger: Logger(label: "carillon.demo") { _ in SwiftLogNoOpLogHandler() }
        )
        try await application.run()
    }

    private func observe(_ request: Request) async throws -> Response {
        guard let body = try await body(of: request, for: .observe) else { return Response(status: .unauthorized) }
        state.withLock { $0.seen.append(body) }
        return Response(status: .noContent)
    }

    private func intercept(_ request: Request) async throws -> Response {
        guard let asked = try await body(of: request, for: .intercept) else { return Response(status: .unauthorized) }
        let text = asked["data"]?["notification"]?["body"]?.text ?? ""
        if text.contains("spam") { return .answer(["action": "drop", "reason": "spam"]) }
        guard text.contains("darn") else { return Response(status: .noContent) }
        let milder = text.replacing("darn", with: "d***")
        return .answer(["action": "deliver", "notification": ["body": .string(milder)]])
    }

    private func body(of request: Request, for role: Role) async throws -> JSONValue? {
        guard let secret = state.withLock({ $0.secrets[role] }) else { return nil }
        return try await request.signedBody(by: secret)
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
