import CarillonCore

/// What a network says of its apps that were built for Amity: which they are here.
struct AmitySettings: Sendable, Equatable {
    struct AppleApp: Sendable, Equatable {
        var id: String
        var environment: DeviceAddress.APNsEnvironment
    }

    /// The app for Apple's devices; they cannot be registered without it.
    var ios: AppleApp?
    /// The app for Android; they cannot be registered without it.
    var android: String?
    /// Whether who registers a device has to prove that they are its user.
    var requiresUserToken = true

    /// Reads what an admin wrote; `nil` after noting what is wrong.
    init?(_ reader: inout JSONObjectReader) {
        let isNone = !reader.contains("ios") && !reader.contains("android")
        if var app = reader.object("ios") {
            let id = app.identifier("appId", as: DeviceAddress.self, required: true)
            let environment = app.choice("environment", as: DeviceAddress.APNsEnvironment.self)
            app.finish()
            ios = id.map { AppleApp(id: $0.rawValue, environment: environment ?? .production) }
        }
        if var app = reader.object("android") {
            android = app.identifier("appId", as: DeviceAddress.self, required: true)?.rawValue
            app.finish()
        }
        requiresUserToken = reader.bool("requireUserToken") ?? true
        guard !isNone else {
            reader.refuse("ios", "or android is required")
            return nil
        }
        if reader.contains("ios"), !reader.isNull("ios"), ios == nil { return nil }
        if reader.contains("android"), !reader.isNull("android"), android == nil { return nil }
    }

    /// Reads what was checked before.
    init(document: JSONObject) {
        var reader = JSONObjectReader(.object(document), unknown: .tolerate, into: InputErrors())
        self = Self(&reader) ?? Self()
    }

    private init() {}

    /// The settings as they are stored and shown, with defaults filled in.
    var json: JSONObject {
        var json = JSONObject()
        json["ios"] = ios.map { ["appId": .string($0.id), "environment": .string($0.environment.rawValue)] }
        json["android"] = android.map { ["appId": .string($0)] }
        json["requireUserToken"] = .bool(requiresUserToken)
        return json
    }
}
