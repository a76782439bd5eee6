import CarillonCore
package import HTTPTypes
package import Hummingbird
import Logging

extension HTTPField.Name {
    static let requestID = HTTPField.Name.known("x-request-id")

    /// Says where a request stands in a trace (W3C Trace Context).
    static let traceparent = HTTPField.Name.known("traceparent")

    /// A name that is known to be one.
    package static func known(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .via }
}

/// Gives each request an id, which its answer and everything logged about it carry; and reads of which trace it is, for what it posts and
/// for the log.
package struct RequestIDMiddleware: RouterMiddleware {
    private static let maximumCount = 128

    /// Makes ids for requests that brought none.
    let makeID: @Sendable () -> String

    package func handle(
        _ request: Request,
        context: CarillonRequestContext,
        next: Next
    ) async throws -> Response {
        var context = context
        context.requestID = Self.accepted(request.headers[.requestID]) ?? makeID()
        context.logger[metadataKey: "request.id"] = .string(context.requestID)
        var response: Response
        // Two headers are read as one value, which names no trace.
        if let trace = request.headers[.traceparent].flatMap(TraceContext.init) {
            context.logger[metadataKey: TraceContext.metadataKey] = .string(trace.traceID)
            response = try await TraceContext.$current.withValue(trace) { [context] in
                try await next(request, context)
            }
        } else {
            response = try await next(request, context)
        }
        response.headers[.requestID] = context.requestID
        return response
    }

    /// The caller's id, if it is 1 to 128 printable ASCII characters: anything else could forge lines of the log.
    package static func accepted(_ id: String?) -> String? {
        guard let id, (1...maximumCount).contains(id.utf8.count) else { return nil }
        return id.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? id : nil
    }
}
