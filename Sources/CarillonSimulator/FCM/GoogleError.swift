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
