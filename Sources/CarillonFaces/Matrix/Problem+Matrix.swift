import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What is wrong with a request, in Matrix's words.
///
/// - SeeAlso: <https://spec.matrix.org/latest/client-server-api/#standard-error-response>
extension Problem {
    private static let matrix = "matrix"

    /// A problem of homeservers alone; the words hold nothing of the request.
    static func matrix(_ status: HTTPResponse.Status, _ words: String) -> Problem {
        Problem(matrix, status, "A homeserver was told \(code(of: status))", words)
    }

    private static func code(of status: HTTPResponse.Status) -> String {
        switch status {
        case .badRequest: "M_BAD_JSON"
        case .unauthorized: "M_UNAUTHORIZED"
        case .forbidden: "M_FORBIDDEN"
        case .notFound: "M_NOT_FOUND"
        case .methodNotAllowed: "M_UNRECOGNIZED"
        case .contentTooLarge: "M_TOO_LARGE"
        case .tooManyRequests: "M_LIMIT_EXCEEDED"
        default: "M_UNKNOWN"
        }
    }

    var matrixResponse: Response {
        var headers = headers
        headers[.wwwAuthenticate] = nil
        let words = [name == Self.matrix ? nil : title, detail].compactMap(\.self).joined(separator: ": ")
        let wait = status == .tooManyRequests ? headers[.retryAfter].flatMap { Int($0) } : nil
        let body: JSONValue = [
            "errcode": .string(Self.code(of: status)), "error": .string(words),
            "retry_after_ms": wait.map { JSONValue($0 * 1_000) },
        ]
        return .json(body, status: status, headers: headers)
    }
}
