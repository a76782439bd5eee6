import CarillonCore

struct MobileFirstAppleSettings: Sendable {
    private enum Delivery: String, CaseIterable {
        case standard = "DEFAULT"
        case silent = "SILENT"
        case mixed = "MIXED"

        var kind: PushContent.Kind {
            switch self {
            case .standard: .alert
            case .silent: .silent
            case .mixed: .mixed
            }
        }
    }

    private static let texts = [
        ("title", "title"), ("subtitle", "subtitle"), ("iosActionKey", "action-loc-key"), ("locKey", "loc-key"),
        ("titleLocKey", "title-loc-key"), ("launchImage", "launch-image"),
    ]
    private static let lists = [("locArgs", "loc-args"), ("titleLocArgs", "title-loc-args")]
    private static let maximumArguments = 20

    let kind: PushContent.Kind
    /// What is shown, where the message itself does not say.
    let alert: String?
    private var shown = JSONObject()
    private var aps = JSONObject()
    private var root = JSONObject()

    /// Reads `settings.apns`; what is wrong is noted.
    init(_ part: JSONObjectReader?) {
        guard var part else {
            kind = .alert
            alert = nil
            return
        }
        kind = (part.choice("type", as: Delivery.self) ?? .standard).kind
        alert = part.string("alert", maximumBytes: .max, nonEmpty: true)
        for (theirs, apples) in Self.texts { shown[apples] = part.string(theirs).map(JSONValue.string) }
        for (theirs, apples) in Self.lists {
            shown[apples] = part.strings(theirs, maximumCount: Self.maximumArguments).map { JSONValue($0) }
        }
        aps["badge"] = part.integer("badge", in: 0...99_999).map { JSONValue($0) }
        aps["sound"] = part.string("sound", maximumBytes: 64, nonEmpty: true).map(JSONValue.string)
        aps["category"] = part.string("category", maximumBytes: 64, nonEmpty: true).map(JSONValue.string)
        if let url = part.string("attachmentUrl", maximumBytes: 2_048, nonEmpty: true) {
            aps["mutable-content"] = 1
            root["attachment-url"] = .string(url)
        }
        root["payload"] = part.payload()
    }

    /// The raw part for APNs. Of what is silent `aps` holds nothing but what wakes the app.
    func part(tag: String?) -> JSONObject {
        var payload = root
        payload["tag"] = tag.map(JSONValue.string)
        if kind == .silent {
            payload["attachment-url"] = nil
        } else {
            var aps = aps
            if !shown.isEmpty {
                var alert = shown
                // Whoever gives Apple's key of a text need not give the text.
                alert["body"] = ["$text": "body"]
                aps["alert"] = .object(alert)
            }
            if !aps.isEmpty { payload["aps"] = .object(aps) }
        }
        return ["kind": .string(kind.rawValue), "payload": .object(payload)]
    }
}

extension JSONObjectReader {
    /// The member `payload` of a push service's settings: an object for the app.
    mutating func payload() -> JSONValue? {
        guard let value = value("payload") else { return nil }
        guard case .object = value else {
            refuse("payload", "must be an object")
            return nil
        }
        return value
    }
}
