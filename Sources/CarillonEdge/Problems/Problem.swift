package import CarillonCore
package import HTTPTypes
package import Hummingbird

/// What went wrong with a request, as the caller is told (RFC 9457, `application/problem+json`).
///
/// Holds nothing of the request but pointers to places in its body: no value, no secret, no stack trace.
package struct Problem: Error, Sendable, Equatable {
    /// What became of a change that could not be confirmed.
    package enum Outcome: String, Sendable {
        case nothingChanged = "nothing changed"
        /// It may have taken effect, or a part of it.
        case unknown
    }

    /// The last part of `type`, such as `invalid-template`.
    package var name: String
    package var status: HTTPResponse.Status
    /// The same words for every problem of this name.
    package var title: String
    package var detail: String?
    package var errors: [FieldError]
    /// What is known of the change that was asked for; every 503 of the API says it.
    package var outcome: Outcome?
    /// What the answer carries besides, such as `retry-after`.
    package var headers: HTTPFields

    package init(
        _ name: String,
        _ status: HTTPResponse.Status,
        _ title: String,
        _ detail: String? = nil,
        errors: [FieldError] = [],
        headers: HTTPFields = [:]
    ) {
        self.name = name
        self.status = status
        self.title = title
        self.detail = detail
        self.errors = errors
        self.headers = headers
    }

    /// The problem as JSON, its members in the order of RFC 9457.
    var document: JSONValue {
        let words = [detail, outcome?.words].compactMap(\.self)
        let places = errors.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] as JSONValue }
        return [
            "type": .string("/problems/\(name)"),
            "title": .string(title),
            "status": JSONValue(status.code),
            "detail": words.isEmpty ? nil : .string(words.joined(separator: "; ")),
            "outcome": outcome.map { .string($0.rawValue) },
            "errors": places.isEmpty ? nil : .array(places),
        ]
    }

    var response: Response {
        .written(document.serialized, as: "application/problem+json", status: status, headers: headers)
    }
}

extension Problem.Outcome {
    fileprivate var words: String {
        switch self {
        case .nothingChanged: "nothing was changed; try again later"
        case .unknown:
            "it may have been done all the same: look, or send the request again, one that creates with its Idempotency-Key"
        }
    }
}

extension Problem: HTTPResponseError {
    /// The answer, wherever the problem is caught.
    package func response(from request: Request, context: some RequestContext) -> Response { response }
}

extension Problem: CustomStringConvertible {
    /// Name and status: for logs.
    package var description: String { "\(name) (\(status.code))" }
}
