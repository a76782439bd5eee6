import CarillonCore
import PushHTTP

/// What FCM answered, taken apart; of a body that is not what Google documents, such as a proxy's HTML, only the status.
///
/// - SeeAlso: <https://firebase.google.com/docs/reference/fcm/rest/v1/ErrorCode>, `google.rpc.Status`.
struct FCMAnswer: Sendable, Equatable {
    private static let maximumDetails = 20

    let status: Int
    /// The name of a message that was taken.
    private(set) var messageName: String?
    /// FCM's own code, from the detail of type `FcmError`.
    private(set) var errorCode: String?
    /// The fields that are named as wrong, from details of type `BadRequest`.
    private(set) var wrongFields: [String] = []
    /// Google's general code, such as `RESOURCE_EXHAUSTED`.
    private(set) var errorStatus: String?
    /// Why Google refuses the project, such as `SERVICE_DISABLED`, from the detail of type `ErrorInfo`.
    private(set) var cause: String?
    /// Whether the text says that the token was never one: there is no code for that.
    private(set) var saysInvalidToken = false
    /// Whether the quota that is used up is one device's, not the project's.
    private(set) var isDeviceQuota = false

    init(_ response: OutboundResponse) {
        status = response.status
        guard case .object(let document)? = try? JSONValue(parsing: response.body) else { return }
        messageName = document["name"]?.text.flatMap { $0.isEmpty ? nil : $0 }
        guard case .object(let error)? = document["error"] else { return }
        errorStatus = error["status"]?.text.flatMap(Self.code)
        let message = error["message"]?.text?.lowercased() ?? ""
        saysInvalidToken = message.contains("not a valid fcm registration token")
        isDeviceQuota = message.contains("device message rate")
        guard case .array(let details)? = error["details"] else { return }
        for case .object(let detail) in details.prefix(Self.maximumDetails) { read(detail) }
    }

    private mutating func read(_ detail: JSONObject) {
        switch detail["@type"]?.text?.split(separator: "/").last {
        case "google.firebase.fcm.v1.FcmError":
            errorCode = detail["errorCode"]?.text.flatMap(Self.code)
        case "google.rpc.BadRequest":
            wrongFields += detail.objects("fieldViolations").compactMap { $0["field"]?.text }
        case "google.rpc.QuotaFailure":
            for violation in detail.objects("violations") {
                let subject = violation["subject"]?.text?.lowercased() ?? ""
                let description = violation["description"]?.text?.lowercased() ?? ""
                if subject.hasPrefix("device") || description.contains("device message rate") { isDeviceQuota = true }
            }
        case "google.rpc.ErrorInfo":
            cause = detail["reason"]?.text.flatMap(Self.code)
            guard case .object(let metadata)? = detail["metadata"] else { return }
            if metadata["quota_limit"]?.text?.contains("PerDevice") == true { isDeviceQuota = true }
        default:
            break
        }
    }

    /// A code as Google writes them, so that it can stand in a reason; `nil` for anything else.
    private static func code(_ text: String) -> String? {
        (1...64).contains(text.utf8.count) && text.utf8.allSatisfy(\.isPlainInCode) ? text : nil
    }
}

extension JSONObject {
    /// The first objects of an array.
    fileprivate func objects(_ key: String) -> [JSONObject] { self[key].elements.prefix(20).compactMap(\.object) }
}

extension UInt8 {
    fileprivate var isPlainInCode: Bool {
        switch self {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"): true
        default: false
        }
    }
}
