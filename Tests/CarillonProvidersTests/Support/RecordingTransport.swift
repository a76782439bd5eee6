import CarillonCore
import NIOHTTP1
import Synchronization

@testable import CarillonProviders
@testable import PushHTTP

/// A push service in a closure, which remembers what it was asked.
final class RecordingTransport: HTTPTransport {
    typealias Handler = @Sendable (OutboundRequest) async throws -> OutboundResponse

    private let isReached: Bool
    private let handler: Handler
    private let recorded = Mutex<[OutboundRequest]>([])

    /// - Parameters:
    ///   - isReached: Whether requests get as far as being sent, so that they are asked whether they are still wanted.
    ///   - handler: Answers them.
    init(isReached: Bool = true, _ handler: @escaping Handler) {
        self.isReached = isReached
        self.handler = handler
    }

    /// All requests in the order in which they were made.
    var requests: [OutboundRequest] { recorded.withLock { $0 } }

    func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse {
        if isReached, !request.isStillWanted() { throw CancellationError() }
        recorded.withLock { $0.append(request) }
        do {
            return try await handler(request)
        } catch OutboundError.refused {
            request.whenNotProcessed?()
            throw OutboundError.refused
        }
    }
}

extension OutboundResponse {
    static func answer(_ status: Int, _ body: String = "", headers: HTTPHeaders = [:]) -> OutboundResponse {
        OutboundResponse(status: status, headers: headers, body: Array(body.utf8))
    }
}
