import CarillonCore
import CarillonEdge

/// A message as back ends post it, in Carillon's own terms: the body of a direct notification (FACES sections H3 and B1).
struct MobileFirstMessage: Sendable {
    /// The most devices, users and so on that one names.
    private static let maximumNames = 1_000
    /// The tag of whatever goes to everyone.
    static let everyone = "Push.ALL"

    let alert: String?
    /// The notification as Carillon's own API takes it.
    let notification: JSONObject

    static func isEveryone(_ tag: String) -> Bool { tag.lowercased() == everyone.lowercased() }

    /// Translates a message to an application.
    ///
    /// - Throws: What is wrong with it: everything that Carillon's own API does not see.
    init(_ json: JSONValue, id: String, to application: MobileFirstApplication, at pointer: String = "") throws {
        let errors = InputErrors()
        var reader = JSONObjectReader(json, at: pointer, unknown: .tolerate, into: errors)
        // `WL.Server` wraps what it sends.
        if !reader.contains("message"), let inner = reader.object("notification") {
            // What stands beside it would be passed over, and without a target a message goes to everyone.
            for name in ["target", "settings", "notificationType"] where reader.contains(name) {
                reader.refuse(name, "must stand inside notification")
            }
            reader = inner
        }
        let kind = reader.integer("notificationType", in: 1...3) ?? 1
        if kind != 1 { reader.refuse("notificationType", "must be 1: messages are not sent by SMS") }
        var settings = reader.object("settings")
        let apple = MobileFirstAppleSettings(Self.part(["apns", "APNS"], &settings, &reader))
        let google = MobileFirstGoogleSettings(Self.part(["gcm", "GCM"], &settings, &reader))
        var message = reader.object("message")
        let alert =
            message?.string("alert", maximumBytes: .max, nonEmpty: true) ?? apple.alert ?? google.alert
        if alert == nil, apple.kind != .silent { reader.refuse("message", "must have an alert") }
        let target = try Self.target(reader: &reader, settings: &settings, of: application)
        try errors.throwIfAny(problem: "invalid-message")
        self.alert = alert
        notification = [
            "id": .string(id), "envelope": false, "to": .object(target.audience), "filter": .object(target.filter),
            "body": alert.map(JSONValue.string),
            // What is read here without an alert is silent.
            "kind": alert == nil ? "silent" : nil,
            "apns": .object(apple.part(tag: target.tag)),
            "fcm": .object(google.part(tag: target.tag, hasAlert: alert != nil)),
        ]
    }

    /// The settings for one push service: inside `settings`, or, in the objects of `WL.Server`, beside it.
    private static func part(
        _ names: [String],
        _ settings: inout JSONObjectReader?,
        _ reader: inout JSONObjectReader
    ) -> JSONObjectReader? {
        for name in names {
            if let part = settings?.object(name) { return part }
        }
        for name in names {
            if let part = reader.object(name) { return part }
        }
        return nil
    }

    private struct Target {
        var audience: JSONObject
        var filter: JSONObject
        var tag: String?
    }

    /// Whom it is meant for.
    ///
    /// What is not known of a target is refused, not passed over: without it the message would go to everyone.
    private static func target(
        reader: inout JSONObjectReader,
        settings: inout JSONObjectReader?,
        of application: MobileFirstApplication
    ) throws(Problem) -> Target {
        var filter: JSONObject = ["appIds": JSONValue(Array(Set(application.apps.map(\.appID))).sorted())]
        // Both of Apple's and Google's apps are often called the same, and only one of them may be this application's.
        if application.apps.count == 1 { filter["providers"] = JSONValue(application.apps.map(\.provider.rawValue)) }
        let everybody = Target(audience: ["everyone": true], filter: filter, tag: everyone)
        guard var target = reader.object("target") ?? settings?.object("target") else { return everybody }
        let known = ["consumerIds", "deviceIds", "platforms", "tagNames", "userIds"]
        if let unknown = target.keys.first(where: { !known.contains($0) && !target.isNull($0) }) {
            let name = unknown.shortened(toCharacters: 100, bytes: 400)
            throw .mobileFirst(.unknownProperty, "\(target.pointer(to: name)) is nothing that messages can be sent to")
        }
        let given = target.keys.filter { !target.isNull($0) }
        guard let key = given.first else {
            if let named = target.keys.first { target.refuse(named, "must not be null where nothing else is given") }
            return everybody
        }
        guard given.count == 1 else {
            target.refuse(given[1], "must not be given with \(key)")
            return everybody
        }
        guard let names = key == "platforms" ? platforms(in: &target) : names(key, in: &target) else {
            return everybody
        }
        guard !names.isEmpty else {
            target.refuse(key, "must not be empty")
            return everybody
        }
        switch key {
        case "tagNames":
            if names.contains(where: isEveryone) { return everybody }
            return Target(audience: ["tags": JSONValue(names)], filter: filter, tag: names[0])
        case "deviceIds":
            return Target(audience: ["deviceIds": JSONValue(names)], filter: filter)
        case "platforms":
            filter["providers"] = JSONValue(names)
            return Target(audience: ["everyone": true], filter: filter)
        default:
            return Target(audience: ["userIds": JSONValue(names)], filter: filter)
        }
    }

    private static func names(_ key: String, in target: inout JSONObjectReader) -> [String]? {
        guard let names = target.strings(key, maximumCount: maximumNames) else { return nil }
        if key == "tagNames", names.count > 20 {
            target.refuse(key, "must have at most 20 elements")
            return nil
        }
        let isOfUsers = key == "userIds" || key == "consumerIds"
        for (index, name) in names.enumerated() {
            guard let id = UserID(name), !isOfUsers || !id.isReserved else {
                target.refuse(
                    key,
                    at: index,
                    "must be 1 to 256 bytes without control characters, not . or .. or a user's me"
                )
                return nil
            }
        }
        return names
    }

    /// The push services of `["A","G"]`, which some write as `["A,G"]` or `"A,G"`.
    private static func platforms(in target: inout JSONObjectReader) -> [String]? {
        let key = "platforms"
        let texts = target.value(key)?.text.map { [$0] } ?? target.strings(key, maximumCount: 16)
        guard let texts else { return nil }
        var providers: [String] = []
        for name in texts.joined(separator: ",").split(separator: ",").map({ $0.filter { $0 != " " } }) {
            guard let platform = MobileFirstApplication.Platform(rawValue: name) else {
                target.refuse(key, "must be A, G or both")
                return nil
            }
            if !providers.contains(platform.provider.rawValue) { providers.append(platform.provider.rawValue) }
        }
        return providers
    }
}
