import Foundation

/// A message for one token, checked as FCM checks it.
///
/// - SeeAlso: "Resource: Message", Firebase's reference of the FCM HTTP v1 API.
struct FCMMessage {
    private static let maximumBytes = 4096
    private static let members: Set<String> = [
        "name", "data", "notification", "android", "webpush", "apns", "fcm_options", "fcmOptions", "token", "topic",
        "condition",
    ]
    let token: String
    let title: String?
    let body: String?
    let notificationID: String?

    init(_ bytes: [UInt8]) throws(GoogleError) {
        guard let object = JSONText.object(bytes) else {
            throw .invalid(field: "", "Invalid JSON payload received.")
        }
        guard let message = object["message"] as? JSONText.Object else {
            throw .invalid(field: "message", "Message is required.")
        }
        for name in message.keys.sorted() where !Self.members.contains(name) {
            throw .invalid(field: "message", #"Unknown name "\#(name)" at 'message': Cannot find field."#)
        }
        let data = try Self.data(of: message)
        let notification = message["notification"] as? JSONText.Object
        title = notification?["title"] as? String
        body = notification?["body"] as? String
        notificationID = data["notificationId"]
        if let android = message["android"] as? JSONText.Object { try Self.check(android: android) }
        let texts = data.flatMap { [$0.key, $0.value] } + [title, body].compactMap { $0 }
        if texts.reduce(0, { $0 + $1.utf8.count }) > Self.maximumBytes {
            throw GoogleError(code: 400, status: "INVALID_ARGUMENT", message: "Android message is too big")
        }
        token = try Self.token(of: message)
    }

    private static func token(of message: JSONText.Object) throws(GoogleError) -> String {
        let targets = ["token", "topic", "condition"].filter { message[$0] != nil }
        guard targets == ["token"], let token = message["token"] as? String else {
            throw .invalid(field: "message", "Exactly one of token, topic or condition is required")
        }
        let isWellFormed = token.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ":"): true
            default: false
            }
        }
        guard isWellFormed, !token.isEmpty else { throw .invalidToken }
        return token
    }

    private static func data(of message: JSONText.Object) throws(GoogleError) -> [String: String] {
        guard let members = message["data"] else { return [:] }
        guard let members = members as? JSONText.Object else {
            throw .invalid(field: "message.data", "Invalid value at 'message.data' (Map)")
        }
        var data: [String: String] = [:]
        for (index, name) in members.keys.sorted().enumerated() {
            guard let value = members[name] as? String else {
                let field = "message.data[\(index)].value"
                throw .invalid(field: field, "Invalid value at '\(field)' (TYPE_STRING)")
            }
            if name == "from" || name.hasPrefix("gcm") || name.hasPrefix("google") {
                throw .invalid(field: "message.data", "Invalid data payload key: \(name)")
            }
            data[name] = value
        }
        return data
    }

    private static func check(android: JSONText.Object) throws(GoogleError) {
        if let priority = android["priority"], !["HIGH", "NORMAL"].contains(priority as? String) {
            throw .invalid(field: "message.android.priority", "Invalid value at 'message.android.priority'")
        }
        guard let ttl = android["ttl"] else { return }
        guard let ttl = ttl as? String, ttl.hasSuffix("s"), let seconds = Double(ttl.dropLast()),
            (0...2_419_200).contains(seconds)
        else { throw .invalid(field: "message.android.ttl", "Illegal duration format at 'message.android.ttl'") }
    }
}
