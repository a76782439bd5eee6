package import CarillonCore
package import HTTPTypes
package import Hummingbird
import NIOCore

/// What went wrong with a request, as the caller is told (RFC 9457, `application/problem+json`).
///
/// Holds nothing of the request but pointers to places in its body: no value, no secret, no stack trace.
package struct Problem: Error, Sendable, Equatable {
    /// The last part of `type`, such as `invalid-template`.
    package var name: String
    /// The status of the answer.
    package var status: HTTPResponse.Status
    /// The same words for every problem of this name.
    package var title: String
    /// What is wrong this time.
    package var detail: String?
    /// Every place that is wrong.
    package var errors: [FieldError]
    /// What the answer carries besides, such as `retry-after`.
    package var headers: HTTPFields

    /// A problem by its parts.
    package init(
        _ name: String,
        status: HTTPResponse.Status,
        title: String,
        detail: String? = nil,
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
        var object = JSONObject()
        object["type"] = .string("/problems/\(name)")
        object["title"] = .string(title)
        object["status"] = .number(JSONNumber(status.code))
        if let detail { object["detail"] = .string(detail) }
        if !errors.isEmpty {
            object["errors"] = .array(
                errors.map { ["pointer": .string($0.pointer), "detail": .string($0.detail)] }
            )
        }
        return .object(object)
    }

    /// The answer.
    var response: Response {
        var headers = headers
        headers[.contentType] = "application/problem+json"
        headers[.cacheControl] = "no-store"
        return Response(
            status: status,
            headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: document.serialized))
        )
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
