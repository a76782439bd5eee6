import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// What is wrong with a request, in Matrix's words.
///
/// - SeeAlso: <https://spec.matrix.org/latest/client-server-api/#standard-error-response>
struct MatrixError: FaceError, Equatable {
    /// `errcode`.
    var code: String
    var status: HTTPResponse.Status
    /// `error`, for people; holds nothing of the request.
    var words: String

    /// The same in Carillon's own terms.
    var problem: Problem {
        Problem("matrix", status: status, title: "A homeserver was told \(code)", detail: words)
    }

    /// A body that is not what the specification asks for.
    static func badJSON(_ words: String) -> MatrixError {
        MatrixError(code: "M_BAD_JSON", status: .badRequest, words: words)
    }

    /// No gateway key, or one that nobody has.
    static func unauthorized(_ words: String) -> MatrixError {
        MatrixError(code: "M_UNAUTHORIZED", status: .unauthorized, words: words)
    }

    /// Not from there.
    static func forbidden(_ words: String) -> MatrixError {
        MatrixError(code: "M_FORBIDDEN", status: .forbidden, words: words)
    }

    /// An app that nobody has bound.
    static func notFound(_ words: String) -> MatrixError {
        MatrixError(code: "M_NOT_FOUND", status: .notFound, words: words)
    }

    /// The same as a problem of Carillon's own API.
    init(_ problem: Problem) {
        status = problem.status
        words = [problem.title, problem.detail].compactMap(\.self).joined(separator: ": ")
        code =
            switch problem.status {
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

    private init(code: String, status: HTTPResponse.Status, words: String) {
        self.code = code
        self.status = status
        self.words = words
    }

    /// The answer, with the headers that the problem has beside it.
    func response(_ headers: HTTPFields) -> Response {
        var headers = headers
        headers[.wwwAuthenticate] = nil
        var body: JSONObject = ["errcode": .string(code), "error": .string(words)]
        if status == .tooManyRequests, let seconds = headers[.retryAfter].flatMap({ Int($0) }) {
            body["retry_after_ms"] = JSONValue(seconds * 1_000)
        }
        return .json(.object(body), status: status, headers: headers)
    }
}
