import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

enum AmityAnswer {
    /// A device is registered, or is not any more.
    static let success = Response.json(["success": true])
    /// Settings were changed.
    static let changed = Response.json(["status": "success"])

    static func refusal(_ problem: Problem) -> Response {
        let status = problem.status == .conflict ? .badRequest : problem.status
        return .json(
            [
                "status": "error", "code": JSONValue(code(of: status)),
                "message": .string(problem.detail ?? problem.title),
            ],
            status: status,
            headers: problem.headersOfProtocol
        )
    }

    /// The number that says what a status does; what has none of its own is a bad request, or a failure of ours.
    static func code(of status: HTTPResponse.Status) -> Int {
        switch status {
        case .unauthorized: 400_100
        case .forbidden: 400_301
        case .notFound: 400_400
        case .tooManyRequests: 400_311
        default: status.code < 500 ? 400_000 : 500_000
        }
    }
}
