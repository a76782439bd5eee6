/// An error in the shape of `google.rpc.Status`, as Google's services answer it.
///
/// - SeeAlso: "Errors", Google Cloud API design guide.
struct GoogleError: Error {
    enum Detail {
        case fcm(String)
        case field(String, String)
        case quota(subject: String, String)
        case retry(seconds: Int)
        case apns(status: Int, reason: String)
    }

    var code: Int
    var status: String
    var message: String
    var details: [Detail] = []
    var retryAfter: String?

    var answer: Answer {
        var error: JSONText.Object = ["code": code, "message": message, "status": status]
        if !details.isEmpty { error["details"] = details.map(\.object) }
        let headers = retryAfter.map { [("retry-after", $0)] } ?? []
        return Answer(code, headers: headers, json: JSONText.text(["error": error]))
    }

    /// The code of FCM, or else the status.
    var reason: String {
        for case .fcm(let code) in details { return code }
        return status
    }
}

extension GoogleError.Detail {
    fileprivate var object: JSONText.Object {
        switch self {
        case .fcm(let code):
            return ["@type": "type.googleapis.com/google.firebase.fcm.v1.FcmError", "errorCode": code]
        case .field(let field, let description):
            let violation = ["field": field, "description": description]
            return ["@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [violation]]
        case .quota(let subject, let description):
            let violation = ["subject": subject, "description": description]
            return ["@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [violation]]
        case .retry(let seconds):
            return ["@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "\(seconds)s"]
        case .apns(let status, let reason):
            return [
                "@type": "type.googleapis.com/google.firebase.fcm.v1.ApnsError", "statusCode": status, "reason": reason,
            ]
        }
    }
}

extension GoogleError {
    /// What a refusal looks like on the wire; `nil` when it is a page of HTML.
    init?(_ refusal: FCMRefusal) {
        switch refusal {
        case .unregistered:
            self.init(code: 404, status: "NOT_FOUND", message: "Requested entity was not found.")
            details = [.fcm("UNREGISTERED")]
        case .invalidToken:
            self = .invalidToken
        case .invalidArgument:
            let message = "Invalid value at 'message.android.ttl'"
            self = .invalid(field: "message.android.ttl", message)
        case .tooBig:
            self.init(code: 400, status: "INVALID_ARGUMENT", message: "Android message is too big")
        case .senderMismatch:
            self.init(code: 403, status: "PERMISSION_DENIED", message: "SenderId mismatch")
            details = [.fcm("SENDER_ID_MISMATCH")]
        case .thirdPartyAuth:
            self.init(code: 401, status: "UNAUTHENTICATED", message: "Auth error from APNS or Web Push Service")
            details = [.fcm("THIRD_PARTY_AUTH_ERROR"), .apns(status: 403, reason: "InvalidProviderToken")]
        case .unauthenticated:
            self = .unauthenticated
        case .permissionDenied:
            self = .permissionDenied
        case .notFound:
            self.init(code: 404, status: "NOT_FOUND", message: "The requested URL was not found on this server.")
        case .quotaProject:
            self.init(code: 429, status: "RESOURCE_EXHAUSTED", message: "Quota exceeded for quota metric")
            details = [
                .fcm("QUOTA_EXCEEDED"), .quota(subject: "project", "Requests per minute per project"),
                .retry(seconds: 60),
            ]
            retryAfter = "60"
        case .quotaDevice:
            self.init(code: 429, status: "RESOURCE_EXHAUSTED", message: "Message rate for this device exceeded")
            details = [.fcm("QUOTA_EXCEEDED"), .quota(subject: "device", "Messages per minute per device")]
        case .internal:
            self.init(code: 500, status: "INTERNAL", message: "Internal error encountered.")
            details = [.fcm("INTERNAL")]
        case .unavailable:
            self.init(code: 503, status: "UNAVAILABLE", message: "The service is currently unavailable.")
            details = [.fcm("UNAVAILABLE")]
            retryAfter = "10"
        case .unspecified:
            self.init(code: 500, status: "UNKNOWN", message: "Unknown error.")
            details = [.fcm("UNSPECIFIED_ERROR")]
        case .badGateway, .gatewayTimeout:
            return nil
        }
    }

    static let invalidToken = GoogleError(
        code: 400,
        status: "INVALID_ARGUMENT",
        message: "The registration token is not a valid FCM registration token",
        details: [.fcm("INVALID_ARGUMENT"), .field("message.token", "Invalid registration token")]
    )

    static let unauthenticated = GoogleError(
        code: 401,
        status: "UNAUTHENTICATED",
        message: "Request had invalid authentication credentials."
    )

    static let permissionDenied = GoogleError(
        code: 403,
        status: "PERMISSION_DENIED",
        message: "Permission 'cloudmessaging.messages.create' denied on resource."
    )

    static func invalid(field: String, _ message: String) -> GoogleError {
        let details: [Detail] = [.field(field, message), .fcm("INVALID_ARGUMENT")]
        return GoogleError(code: 400, status: "INVALID_ARGUMENT", message: message, details: details)
    }
}
