package import CarillonCore
package import HTTPTypes

/// The problems that any request may meet. Those of one kind of request stand beside them, and nowhere else are any stated.
extension Problem {
    /// Input that the caller has to correct.
    package init(_ input: InvalidInput) {
        self.init(
            input.problem,
            status: .badRequest,
            title: input.problem == "invalid-json" ? "The body is not acceptable JSON" : "The body is not valid",
            detail: input.errors.first.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer) \($0.detail)" },
            errors: input.errors
        )
    }

    /// A path segment that cannot be an id.
    package static func invalidID(_ name: String, _ detail: String) -> Problem {
        Problem(
            "invalid-id",
            status: .badRequest,
            title: "An id in the path is not valid",
            detail: "{\(name)} \(detail)"
        )
    }

    /// A query parameter that cannot be understood.
    package static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        Problem(
            "invalid-parameter",
            status: .badRequest,
            title: "A query parameter is not valid",
            detail: "\(name) \(detail)"
        )
    }

    /// What arrived is no request.
    package static func malformedRequest(_ detail: String) -> Problem {
        Problem(
            "malformed-request",
            status: .badRequest,
            title: "What arrived is not a valid request of HTTP",
            detail: detail,
            headers: [.connection: "close"]
        )
    }

    /// A body in a transfer coding that is not understood (RFC 9112 section 6.1).
    package static let unknownTransferCoding = Problem(
        "not-implemented",
        status: .notImplemented,
        title: "The service does not know how to do this",
        detail: "chunked is the only transfer coding that is understood",
        headers: [.connection: "close"]
    )

    /// A body that ends early or breaks the framing of HTTP.
    package static let incompleteBody = Problem(
        "incomplete-body",
        status: .badRequest,
        title: "The body did not arrive as announced",
        headers: [.connection: "close"]
    )

    /// No credentials, or credentials that prove nothing.
    package static func unauthorized(_ detail: String) -> Problem {
        Problem(
            "unauthorized",
            status: .unauthorized,
            title: "Valid credentials are needed",
            detail: detail,
            headers: [.wwwAuthenticate: "Bearer"]
        )
    }

    /// Valid credentials without the right; `pointer` is the place of the body that asks for too much.
    package static func forbidden(_ detail: String, at pointer: String? = nil) -> Problem {
        Problem(
            "forbidden",
            status: .forbidden,
            title: "The credentials do not allow this",
            detail: detail,
            errors: pointer.map { [FieldError(pointer: $0, detail: detail)] } ?? []
        )
    }

    /// What is unknown, and everything that belongs to another network.
    package static func notFound(_ detail: String? = nil) -> Problem {
        Problem("not-found", status: .notFound, title: "There is no such resource", detail: detail)
    }

    /// A known path with another method.
    package static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        Problem(
            "method-not-allowed",
            status: .methodNotAllowed,
            title: "This resource does not support the method",
            headers: [.allow: allowed.map(\.rawValue).joined(separator: ", ")]
        )
    }

    /// A body that took too long.
    package static let requestTimeout = Problem(
        "request-timeout",
        status: .requestTimeout,
        title: "The request took too long to arrive",
        headers: [.connection: "close"]
    )

    /// The state of the resource does not permit it.
    package static func conflict(_ name: String, _ detail: String) -> Problem {
        Problem(name, status: .conflict, title: "The resource is in conflict with this", detail: detail)
    }

    /// Something is left of a former network of that id.
    package static let beingDeleted = Problem(
        "being-deleted",
        status: .conflict,
        title: "A former network of this id is still being deleted",
        detail: "nothing was changed; try again later",
        headers: [.retryAfter: "5"]
    )

    /// The network has as much of something as it may have.
    package static func limitReached(_ reached: LimitReached) -> Problem {
        let name = reached.count.rawValue
        return Problem(
            "limit-reached",
            status: .conflict,
            title: "The network's limit is reached",
            detail: "\(name) is \(reached.limit)",
            errors: [FieldError(pointer: "/limits/\(name)", detail: "is \(reached.limit)")]
        )
    }

    /// More than a rate allows; the wait is told in whole seconds.
    package static func tooManyRequests(retryAfter wait: Duration) -> Problem {
        Problem(
            "too-many-requests",
            status: .tooManyRequests,
            title: "That was too much at once",
            detail: "nothing was changed; try again later",
            headers: [.retryAfter: "\(max(1, Int((wait / .seconds(1)).rounded(.up))))"]
        )
    }

    /// `If-Match` names another version.
    package static let preconditionFailed = Problem(
        "precondition-failed",
        status: .preconditionFailed,
        title: "The document was changed meanwhile",
        detail: "If-Match does not name the current version; get the document again"
    )

    /// A body over its limit.
    package static func contentTooLarge(limit: Int) -> Problem {
        Problem(
            "content-too-large",
            status: .contentTooLarge,
            title: "The body is too large",
            detail: "at most \(limit) bytes are accepted here",
            headers: [.connection: "close"]
        )
    }

    /// A body in a form that is not understood.
    package static func unsupportedMediaType(_ detail: String) -> Problem {
        Problem(
            "unsupported-media-type",
            status: .unsupportedMediaType,
            title: "The body has an unsupported type",
            detail: detail
        )
    }

    /// Header fields over their limits.
    package static func headersTooLarge(_ detail: String) -> Problem {
        Problem(
            "headers-too-large",
            status: .requestHeaderFieldsTooLarge,
            title: "The header fields are too large",
            detail: detail,
            headers: [.connection: "close"]
        )
    }

    /// PostgreSQL is away or too much is waiting. What is known of the change is added where the problem is answered.
    /// - Parameters:
    ///   - detail: Why, where the caller can make something of it.
    ///   - seconds: When to try again.
    /// - Returns: The problem.
    package static func serviceUnavailable(_ detail: String? = nil, retryAfter seconds: Int = 1) -> Problem {
        Problem(
            "service-unavailable",
            status: .serviceUnavailable,
            title: "The service cannot do this at the moment",
            detail: detail,
            headers: [.retryAfter: "\(seconds)"]
        )
    }

    /// The tables are not there yet, or not yet those of this release.
    package static let migrating = serviceUnavailable("the database is being migrated", retryAfter: 5)

    /// A secret is needed that the service's master key does not open, or that it may not seal.
    package static let wrongMasterKey = Problem(
        "wrong-master-key",
        status: .serviceUnavailable,
        title: "The service has another master key than the one that stored secrets are sealed with",
        detail: "nothing was changed; those who run the service have to set the right CARILLON_MASTER_KEY",
        headers: [.retryAfter: "60"]
    )

    /// The service is up but cannot work.
    package static func notReady(_ reasons: [String]) -> Problem {
        Problem(
            "not-ready",
            status: .serviceUnavailable,
            title: "The service is not ready",
            detail: reasons.joined(separator: "; "),
            headers: [.retryAfter: "1"]
        )
    }

    /// A mistake of ours; the log has the rest under the request's id.
    package static let internalError = Problem(
        "internal-error",
        status: .internalServerError,
        title: "The service made a mistake"
    )
}
