package import CarillonCore
package import HTTPTypes

/// The problems that any request may meet. Those of one kind of request stand beside them, and nowhere else are any stated.
extension Problem {
    private static let closing: HTTPFields = [.connection: "close"]

    package init(_ input: InvalidInput) {
        let title = input.problem == "invalid-json" ? "The body is not acceptable JSON" : "The body is not valid"
        let first = input.errors.first.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer) \($0.detail)" }
        self.init(input.problem, .badRequest, title, first, errors: input.errors)
    }

    /// A path segment that cannot be an id.
    package static func invalidID(_ name: String, _ detail: String) -> Problem {
        Problem("invalid-id", .badRequest, "An id in the path is not valid", "{\(name)} \(detail)")
    }

    package static func invalidParameter(_ name: String, _ detail: String) -> Problem {
        Problem("invalid-parameter", .badRequest, "A query parameter is not valid", "\(name) \(detail)")
    }

    package static func malformedRequest(_ detail: String) -> Problem {
        let title = "What arrived is not a valid request of HTTP"
        return Problem("malformed-request", .badRequest, title, detail, headers: closing)
    }

    /// A body in a transfer coding that is not understood (RFC 9112 section 6.1).
    package static let unknownTransferCoding = Problem(
        "not-implemented",
        .notImplemented,
        "The service does not know how to do this",
        "chunked is the only transfer coding that is understood",
        headers: closing
    )

    /// A body that ends early or breaks the framing of HTTP.
    package static let incompleteBody = Problem(
        "incomplete-body",
        .badRequest,
        "The body did not arrive as announced",
        headers: closing
    )

    package static func unauthorized(_ detail: String) -> Problem {
        let headers: HTTPFields = [.wwwAuthenticate: "Bearer"]
        return Problem("unauthorized", .unauthorized, "Valid credentials are needed", detail, headers: headers)
    }

    /// Valid credentials without the right; `pointer` is the place of the body that asks for too much.
    package static func forbidden(_ detail: String, at pointer: String? = nil) -> Problem {
        let errors = pointer.map { [FieldError(pointer: $0, detail: detail)] } ?? []
        return Problem("forbidden", .forbidden, "The credentials do not allow this", detail, errors: errors)
    }

    /// What is unknown, and everything that belongs to another network.
    package static func notFound(_ detail: String? = nil) -> Problem {
        Problem("not-found", .notFound, "There is no such resource", detail)
    }

    package static func methodNotAllowed(_ allowed: [HTTPRequest.Method]) -> Problem {
        let headers: HTTPFields = [.allow: allowed.map(\.rawValue).joined(separator: ", ")]
        let title = "This resource does not support the method"
        return Problem("method-not-allowed", .methodNotAllowed, title, headers: headers)
    }

    package static let requestTimeout = Problem(
        "request-timeout",
        .requestTimeout,
        "The request took too long to arrive",
        headers: closing
    )

    package static func conflict(_ name: String, _ detail: String) -> Problem {
        Problem(name, .conflict, "The resource is in conflict with this", detail)
    }

    /// Something is left of a former network of that id.
    package static let beingDeleted = Problem(
        "being-deleted",
        .conflict,
        "A former network of this id is still being deleted",
        "nothing was changed; try again later",
        headers: [.retryAfter: "5"]
    )

    package static func limitReached(_ reached: LimitReached) -> Problem {
        let (name, words) = (reached.count.rawValue, "is \(reached.limit)")
        let errors = [FieldError(pointer: "/limits/\(name)", detail: words)]
        return Problem("limit-reached", .conflict, "The network's limit is reached", "\(name) \(words)", errors: errors)
    }

    /// More than a rate allows; the wait is told in whole seconds.
    package static func tooManyRequests(retryAfter wait: Duration) -> Problem {
        Problem(
            "too-many-requests",
            .tooManyRequests,
            "That was too much at once",
            "nothing was changed; try again later",
            headers: [.retryAfter: "\(max(1, Int((wait / .seconds(1)).rounded(.up))))"]
        )
    }

    package static let preconditionFailed = Problem(
        "precondition-failed",
        .preconditionFailed,
        "The document was changed meanwhile",
        "If-Match does not name the current version; get the document again"
    )

    package static func contentTooLarge(limit: Int) -> Problem {
        let detail = "at most \(limit) bytes are accepted here"
        return Problem("content-too-large", .contentTooLarge, "The body is too large", detail, headers: closing)
    }

    package static func unsupportedMediaType(_ detail: String) -> Problem {
        Problem("unsupported-media-type", .unsupportedMediaType, "The body has an unsupported type", detail)
    }

    package static func headersTooLarge(_ detail: String) -> Problem {
        let title = "The header fields are too large"
        return Problem("headers-too-large", .requestHeaderFieldsTooLarge, title, detail, headers: closing)
    }

    /// PostgreSQL is away or too much is waiting. What is known of the change is added where the problem is answered.
    package static func serviceUnavailable(_ detail: String? = nil, retryAfter seconds: Int = 1) -> Problem {
        unavailable("service-unavailable", "The service cannot do this at the moment", detail, retryAfter: seconds)
    }

    private static func unavailable(
        _ name: String,
        _ title: String,
        _ detail: String? = nil,
        retryAfter seconds: Int
    ) -> Problem {
        Problem(name, .serviceUnavailable, title, detail, headers: [.retryAfter: "\(seconds)"])
    }

    /// The tables are not there yet, or not yet those of this release.
    package static let migrating = serviceUnavailable("the database is being migrated", retryAfter: 5)

    /// Nobody has reached the database yet since the service was started, or its tables are being made.
    package static let starting = serviceUnavailable("the database is not ready yet: it is starting, or being migrated")

    /// A placement's PostgreSQL is away; it is only its own networks that have to wait.
    package static func placementUnavailable(_ detail: String?) -> Problem {
        let title = "The placement of the network cannot be used at the moment"
        return unavailable("placement-unavailable", title, detail, retryAfter: 2)
    }

    /// The network is on its way to another placement: until it is there it can be read, and not changed.
    package static let networkMoving = unavailable(
        "network-moving",
        "The network is moving to another placement",
        retryAfter: 2
    )

    /// Why a network is not moved.
    package init(_ problem: MoveProblem) {
        switch problem {
        case .inProgress: self = .conflict("move-in-progress", "the network moves already")
        case .switched: self = .conflict("move-switched", "the network has moved; another move brings it back")
        }
    }

    /// What is not done where networks are in several placements.
    package init(_ problem: PlacementProblem) {
        switch problem {
        case .unavailable(let name, let reason): self = .placementUnavailable("placement \(name): \(reason)")
        case .moving: self = .networkMoving
        case .full(let name?): self = .conflict("placement-full", "placement \(name) takes no new networks")
        case .full(nil): self = .conflict("placement-full", "no placement takes new networks")
        case .unknown(let name):
            let detail = "there is no placement \(name.rawValue.debugDescription)"
            self.init(InvalidInput(problem: "invalid-network", pointer: "/placement", detail: detail))
        case .schemasDiffer(let source, let target):
            let detail = "the tables of placements \(source) and \(target) are of different releases: migrate both"
            self = .conflict("schemas-differ", detail)
        }
    }

    /// A secret is needed that the service's master key does not open, or that it may not seal.
    package static let wrongMasterKey = unavailable(
        "wrong-master-key",
        "The service has another master key than the one that stored secrets are sealed with",
        "those who run the service have to set the right CARILLON_MASTER_KEY",
        retryAfter: 60
    )

    /// The service is up but cannot work.
    package static func notReady(_ reasons: [String]) -> Problem {
        unavailable("not-ready", "The service is not ready", reasons.joined(separator: "; "), retryAfter: 1)
    }

    /// A mistake of ours; the log has the rest under the request's id.
    package static let internalError = Problem("internal-error", .internalServerError, "The service made a mistake")

    /// Why an endpoint is not stored.
    package init(_ refusal: EndpointRefusal) {
        self =
            switch refusal {
            case .tooMany: .full("endpoints", Endpoint.maximumCount)
            case .interception(let type, let other):
                .conflict(
                    "interception-conflict",
                    "endpoint \(other) is asked about \(type) already, and at most one may be"
                )
            }
    }

    /// Why a binding, a key or a nonce is not stored.
    package init(_ refusal: FaceRefusal) {
        self =
            switch refusal {
            case .nameTaken: .conflict("name-taken", "it belongs to another network, or to another key")
            case .notOwned: .forbidden("a name that is new to the network is bound with the operator's token")
            case .tooMany:
                .full("names and \(FaceKey.maximumCount) keys in each system", FaceBinding.maximumCount)
            case .tooManyNonces: .tooManyRequests(retryAfter: .seconds(60))
            }
    }

    /// A network has as many of something as any may have.
    package static func full(_ things: String, _ limit: Int) -> Problem {
        .conflict("limit-reached", "a network has at most \(limit) \(things): remove one first")
    }

    package static func invalidIdempotencyKey(upTo maximumCount: Int) -> Problem {
        Problem(
            "invalid-idempotency-key",
            .badRequest,
            "The Idempotency-Key is not valid",
            "must be one of 1 to \(maximumCount) printable ASCII characters"
        )
    }

    /// Why a request with an `Idempotency-Key` is not carried out.
    package init(_ failure: IdempotentRequest.Failure) {
        let remembered = "requests with an Idempotency-Key are remembered in 24 hours"
        self =
            switch failure {
            case .differentBody:
                Problem(
                    "idempotency-key-reused",
                    .unprocessableContent,
                    "The Idempotency-Key was used for something else",
                    "within 24 hours a key stands for one body: take a new key"
                )
            case .tooMany:
                .conflict("limit-reached", "at most \(IdempotentRequest.maximumPerNetwork) \(remembered)")
            }
    }
}
