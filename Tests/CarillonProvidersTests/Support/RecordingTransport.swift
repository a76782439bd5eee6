import CarillonCore
import NIOHTTP1
import Synchronization

@testable import CarillonProviders
@testable import PushHTTP

/// A push service in a closure, which remembers what it was asked.
final class RecordingTransport: HTTPTransport {
    typealias Handler = @Sendable (OutboundRequest) async throws -> OutboundResponse

    private let handler: Handler
    private let recorded = Mutex<[OutboundRequest]>([])

    init(_ handler: @escaping Handler) { self.handler = handler }

    /// All requests in the order in which they were made.
    var requests: [OutboundRequest] { recorded.withLock { $0 } }

    func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse {
        recorded.withLock { $0.append(request) }
        return try await handler(request)
    }
}

extension OutboundResponse {
    static func answer(_ status: Int, _ body: String = "", headers: HTTPHeaders = [:]) -> OutboundResponse {
        OutboundResponse(status: status, headers: headers, body: Array(body.utf8))
    }
}
