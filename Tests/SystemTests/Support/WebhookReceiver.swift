import CarillonWebhooks
import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization

/// Answers what is posted while `body` runs, which gets the URL.
func whileListening<Answer: ResponseGenerator>(
    _ answer: @escaping @Sendable (Request) async throws -> Answer,
    _ body: @escaping @Sendable (String) async throws -> Void
) async throws {
    let (ports, port) = AsyncStream.makeStream(of: Int.self)
    let router = Router()
    router.post("/hook") { request, _ in try await answer(request) }
    let application = Application(
        router: router,
        configuration: .init(address: .hostname("127.0.0.1", port: 0)),
        onServerRunning: { port.yield($0.localAddress?.port ?? 0) },
        logger: Logger(label: "receiver") { _ in SwiftLogNoOpLogHandler() }
    )
    try await withThrowingTaskGroup(of: Void.self) { group in
        group.addTask { try await application.run() }
        defer { group.cancelAll() }
        guard let number = await ports.first(where: { _ in true }) else { return }
        try await body("http://127.0.0.1:\(number)/hook")
    }
}

/// A receiver of webhooks that answers with one status after the other, and remembers what it was sent.
final class WebhookReceiver: Sendable {
    /// What it was sent.
    struct Received: Sendable {
        let id: String
        let timestamp: String
        let signature: String
        let traceparent: String
        let body: [UInt8]
        let at: ContinuousClock.Instant

        /// Reads a message.
        init(_ request: Request) async throws {
            func header(_ name: String) -> String { HTTPField.Name(name).flatMap { request.headers[$0] } ?? "" }
            body = Array(buffer: try await request.body.collect(upTo: 65_536))
            id = header("webhook-id")
            timestamp = header("webhook-timestamp")
            signature = header("webhook-signature")
            traceparent = header("traceparent")
            at = .now
        }

        func isSigned(with text: String) -> Bool {
            guard let secret = SigningSecret(text) else { return false }
            do throws(WebhookError) {
                try Webhook(secret).verify(body, id: id, timestamp: timestamp, signature: signature)
                return true
            } catch {
                return false
            }
        }
    }

    private struct State {
        var statuses: [Int]
        var requests: [Received] = []
    }

    private let state: Mutex<State>

    /// A receiver that answers these statuses in turn, and 200 afterwards.
    init(answering statuses: [Int]) { state = Mutex(State(statuses: statuses)) }

    var requests: [Received] { state.withLock { $0.requests } }

    /// Answers these statuses next.
    func answers(_ statuses: [Int]) { state.withLock { $0.statuses = statuses } }

    /// Listens while `body` runs, which gets the URL.
    func whileRunning(_ body: @escaping @Sendable (String) async throws -> Void) async throws {
        try await whileListening({ try await self.receive($0) }, body)
    }

    private func receive(_ request: Request) async throws -> HTTPResponse.Status {
        let received = try await Received(request)
        return state.withLock { state in
            state.requests.append(received)
            return .init(code: state.statuses.isEmpty ? 200 : state.statuses.removeFirst())
        }
    }
}
