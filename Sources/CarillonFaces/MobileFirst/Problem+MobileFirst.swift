import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

enum MobileFirstCode: String, Sendable {
    case notFound = "FPWSE0001E"
    case exists = "FPWSE0002E"
    case notConfigured = "FPWSE0003E"
    case noJSON = "FPWSE0004E"
    case wrongValue = "FPWSE0005E"
    case unknownProperty = "FPWSE0006E"
    case wrongQuery = "FPWSE0007E"
    case incompleteQuery = "FPWSE0008E"
    case internalError = "FPWSE0010E"
    case subscriptionExists = "FPWSE0011E"
    case noSubscription = "FPWSE0012E"
    case unavailable = "FPWSE0025E"
    case wrongOffset = "FPWSE1079E"
    case wrongSize = "FPWSE1080E"

    var status: HTTPResponse.Status {
        switch self {
        case .notFound, .noSubscription: .notFound
        case .exists, .subscriptionExists: .conflict
        case .internalError: .internalServerError
        case .unavailable: .serviceUnavailable
        case .notConfigured, .noJSON, .wrongValue, .unknownProperty, .wrongQuery, .incompleteQuery, .wrongOffset,
            .wrongSize:
            .badRequest
        }
    }
}

extension Problem {
    static func mobileFirst(
        _ code: MobileFirstCode,
        _ message: String,
        status: HTTPResponse.Status? = nil
    ) -> Problem {
        Problem(code.rawValue, status ?? code.status, message)
    }

    static let noDevice = mobileFirst(.notFound, "there is no such device")

    var mobileFirstResponse: Response {
        let message = isOfLimit ? "\(title): \(detail ?? "")" : detail ?? title
        let body: JSONValue = ["code": mobileFirstCode.map { .string($0.rawValue) }, "message": .string(message)]
        return .json(body, status: status, headers: headers)
    }

    /// Whether a limit of the network's is reached, of which the push service knows nothing.
    private var isOfLimit: Bool { name == "limit-reached" }

    /// The answer as a token route gives it (RFC 6749 section 5.2).
    var oauthResponse: Response {
        let known = ["invalid_client", "invalid_scope", "unsupported_grant_type"]
        let error: String? =
            switch status {
            case _ where known.contains(name): name
            case .badRequest, .contentTooLarge, .unsupportedMediaType: "invalid_request"
            case .serviceUnavailable, .tooManyRequests: "temporarily_unavailable"
            case .internalServerError: "server_error"
            default: nil
            }
        let body: JSONValue = ["error": .string(error ?? name), "error_description": .string(detail ?? title)]
        return .json(body, status: status, headers: headers)
    }

    /// The code for a problem of any kind; none for what the push service says by the status alone.
    private var mobileFirstCode: MobileFirstCode? {
        if let code = MobileFirstCode(rawValue: name) { return code }
        return switch (status, name) {
        case (.badRequest, "invalid-json"): .noJSON
        case (.badRequest, "invalid-parameter"): .wrongQuery
        case (.badRequest, _), (.contentTooLarge, _): .wrongValue
        case (.notFound, _): .notFound
        case (.conflict, _): isOfLimit ? nil : .exists
        case (.internalServerError, _): .internalError
        case (.serviceUnavailable, _), (.tooManyRequests, _): .unavailable
        default: nil
        }
    }
}
