import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Answers in the form that Amity's clients read.
enum AmityAnswer {
    /// A device is registered, or is not any more.
    static let success = Response.json(["success": true])
    /// Settings were changed.
    static let changed = Response.json(["status": "success"])

    static func refusal(_ problem: Problem) -> Response {
        let code = AmityCode(problem.status)
        return .json(
            [
                "status": "error", "code": .number(JSONNumber(code.rawValue)),
                "message": .string(problem.detail ?? problem.title),
            ],
            status: code == .badRequest && problem.status == .conflict ? .badRequest : problem.status,
            headers: problem.headersOfProtocol
        )
    }
}

/// Amity's numbers for what went wrong.
enum AmityCode: Int {
    case badRequest = 400_000
    case unauthorized = 400_100
    case forbidden = 400_301
    case tooManyRequests = 400_311
    case notFound = 400_400
    case internalError = 500_000

    /// The number that says what a status does; what has none of its own is a bad request, or a failure of ours.
    init(_ status: HTTPResponse.Status) {
        self =
            switch status {
            case .unauthorized: .unauthorized
            case .forbidden: .forbidden
            case .notFound: .notFound
            case .tooManyRequests: .tooManyRequests
            default: status.code < 500 ? .badRequest : .internalError
            }
    }
}
