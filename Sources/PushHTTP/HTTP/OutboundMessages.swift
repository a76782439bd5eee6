package import CarillonCore
package import NIOHTTP1

/// Sends one request to a push service and answers what it said.
package protocol HTTPTransport: AnyObject, Sendable {
    /// Sends a request and reads the answer, of whatever status, within `timeout`.
    ///
    /// What was surely not processed is sent again at once; every error that comes out of here means "unknown, or no".
    /// - Throws: ``OutboundError``, `EgressRefusal`, or `CancellationError` when the task was cancelled or the request was
    ///   not wanted any more when its turn came.
    func execute(_ request: OutboundRequest, timeout: Duration) async throws -> OutboundResponse
}

/// A request, as a rule to a URL that somebody else chose.
package struct OutboundRequest: Sendable {
    package enum Method: String, Sendable {
        case post = "POST"
        case get = "GET"
        case put = "PUT"
        case patch = "PATCH"
        case delete = "DELETE"

        /// Whether there is a body, be it an empty one.
        var hasBody: Bool { self == .post || self == .put || self == .patch }
    }

    package var method: Method
    /// Where to; the client takes it apart and checks it.
    package var url: String
    /// The headers without `Host` and `Content-Length`, which the client adds.
    package var headers: HTTPHeaders
    package var body: [UInt8]
    /// For whom it is sent: whose share it takes, and which requests it takes turns with; `nil` for Carillon's own.
    package var lane: Lane?
    /// Asked when it is the request's turn to be sent, last of all; if not, it ends as a `CancellationError`. Not asked once it has
    /// been sent, since the server may act on it: it ends with its answer.
    package var isStillWanted: @Sendable () -> Bool
    /// Told the answer before anything that has waited for it is sent: what it says of others is known to them when it is
    /// their turn. Called where the connection lives, so that it has to be brief.
    package var whenAnswered: (@Sendable (OutboundResponse) -> Void)?
    /// Told that what was sent has surely not been processed, before it is sent again or fails.
    package var whenNotProcessed: (@Sendable () -> Void)?

    package init(
        method: Method = .post,
        url: String,
        headers: HTTPHeaders,
        body: [UInt8],
        lane: Lane? = nil,
        isStillWanted: @escaping @Sendable () -> Bool = { true },
        whenAnswered: (@Sendable (OutboundResponse) -> Void)? = nil,
        whenNotProcessed: (@Sendable () -> Void)? = nil
    ) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        self.lane = lane
        self.isStillWanted = isStillWanted
        self.whenAnswered = whenAnswered
        self.whenNotProcessed = whenNotProcessed
    }
}

package struct OutboundResponse: Sendable, Equatable {
    /// The status code; a redirect is an answer like any other.
    package var status: Int
    package var headers: HTTPHeaders
    /// The body, or its beginning when it was longer than what is read of an answer.
    package var body: [UInt8]
}

/// The server has surely not acted on the request: it can be sent again, over another connection.
///
/// Nothing of it was sent, its stream was refused, or it is beyond the last one that a GOAWAY names (RFC 9113 sections
/// 6.8 and 8.7).
struct NotProcessed: Error, Equatable {
    /// What to report when it cannot be sent again.
    var reason: OutboundError
}
