import CarillonCore

struct MobileFirstGoogleSettings: Sendable {
    /// What the SDK looks for beside text and payload. It gets all as strings.
    private static let options = [
        "sound", "priority", "collapseKey", "timeToLive", "category", "visibility", "redact", "lights", "style",
        "bridge",
        "sync", "interactiveCategory",
    ]
    private static let urgent = ["high", "max"]

    /// What is shown, where the message itself does not say.
    let alert: String?
    private var payload: JSONValue?
    private var data = JSONObject()
    private var android = JSONObject()

    /// Reads `settings.gcm`; what is wrong is noted.
    init(_ part: JSONObjectReader?) {
        android["priority"] = "HIGH"
        guard var part else {
            alert = nil
            return
        }
        alert = part.string("alert", maximumBytes: .max, nonEmpty: true)
        payload = part.payload()
        if let priority = part.string("priority", maximumBytes: 16, nonEmpty: true) {
            android["priority"] = Self.urgent.contains(priority.lowercased()) ? "HIGH" : "NORMAL"
        }
        android["collapse_key"] = part.string("collapseKey", maximumBytes: 256, nonEmpty: true).map(JSONValue.string)
        if let seconds = part.integer("timeToLive", in: 0...PushContent.longestTimeToLive) {
            android["ttl"] = .string("\(seconds)s")
        }
        for name in Self.options {
            guard let value = part.value(name) else { continue }
            if case .string = value { data[name] = value } else { data[name] = .string(value.serializedText) }
        }
    }

    /// The raw part for FCM: data alone, which the SDK shows by itself.
    func part(tag: String?, hasAlert: Bool) -> JSONObject {
        let shown: JSONObject = [
            "alert": hasAlert ? ["$text": "body"] : nil,
            // The SDK reads both without asking whether they are there.
            "payload": .string((payload ?? [:]).serializedText), "has-template": "0",
            "tag": tag.map(JSONValue.string),
        ]
        let message: JSONValue = ["data": .object(JSONObject(joining: shown, data)), "android": .object(android)]
        return ["replace": true, "message": message]
    }
}
