public import CarillonCore
public import HTTPTypes
public import Hummingbird
import NIOCore

/// What went wrong with a request, as the caller is told (RFC 9457, `application/problem+json`).
///
/// Holds nothing of the request but pointers to places in its body: no value, no secret, no stack trace.
public struct Problem: Error, Sendable, Equatable {
    /// The last part of `type`, such as `invalid-template`.
    public var name: String
    /// The status of the answer.
    public var status: HTTPResponse.Status
    /// The same words for every problem of this name.
    public var title: String
    /// What is wrong this time.
    public var detail: String?
    /// Every place that is wrong.
    public var errors: [FieldError]
    /// What the answer carries besides, such as `retry-after`.
    public var headers: HTTPFields

    /// A problem by its parts.
    public init(
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
    public func response(from request: Request, context: some RequestContext) -> Response { response }
}

extension Problem: CustomStringConvertible {
    /// Name and status: for logs.
    public var description: String { "\(name) (\(status.code))" }
}
