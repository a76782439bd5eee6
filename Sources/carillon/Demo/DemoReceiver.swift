import CarillonCore
import CarillonProviders
import CarillonWebhooks
import Hummingbird
import HTTPTypes
import Logging
import NIOCore
import Synchronization

/// A receiver of webhooks as somebody would write it: it takes what is signed and refuses the rest.
final class DemoReceiver: Sendable {
    private struct State {
        var secret: SigningSecret?
        var address: ListenAddress?
        var bodies: [JSONValue] = []
    }

    private let state = Mutex(State())

    init() {}

    /// Where it listens, once it does.
    var url: String? { state.withLock { state in state.address.map { "http://\($0)/" } } }

    /// What it was sent about an event, with a signature that is right.
    func bodies(about eventID: String) -> [JSONValue] {
        state.withLock { $0.bodies }.filter { $0["data"]?["eventId"]?.text == eventID }
    }

    func expect(_ secret: SigningSecret) {
        state.withLock { $0.secret = secret }
    }

    /// Listens until the task is cancelled.
    func run() async throws {
        let router = Router()
        router.post("/") { request, _ in try await self.receive(request) }
        let application = Application(
            router: router,
            configuration: .init(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { channel in
                let port = channel.localAddress?.port ?? 0
                self.state.withLock { $0.address = ListenAddress(host: "127.0.0.1", port: port) }
            },
            logger: Logger(label: "carillon.demo") { _ in SwiftLogNoOpLogHandler() }
        )
        try await application.run()
    }

    private func receive(_ request: Request) async throws -> HTTPResponse.Status {
        guard let secret = state.withLock({ $0.secret }) else { return .serviceUnavailable }
        guard let value = try await request.signedBody(by: secret) else { return .unauthorized }
        state.withLock { $0.bodies.append(value) }
        return .noContent
    }
}

extension Request {
    /// The body; `nil` when it was not signed with a secret, or not lately.
    func signedBody(by secret: SigningSecret) async throws -> JSONValue? {
        let body = Array(buffer: try await body.collect(upTo: 1 << 20))
        do throws(WebhookError) {
            try Webhook(secret).verify(body, fields: headers)
        } catch {
            return nil
        }
        return try JSONValue(parsing: body)
    }
}
