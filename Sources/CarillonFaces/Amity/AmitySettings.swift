import CarillonCore

/// What a network says of its apps that were built for Amity: which they are here.
struct AmitySettings: Sendable, Equatable {
    /// The app for Apple's devices; they cannot be registered without it.
    var ios: AppleApp?
    /// The app for Android; they cannot be registered without it.
    var android: String?
    /// Whether who registers a device has to prove that they are its user.
    var requiresUserToken = true

    /// Reads what an admin wrote; `nil` after noting what is wrong.
    init?(_ reader: inout JSONObjectReader) {
        let isNone = !reader.contains("ios") && !reader.contains("android")
        let (ios, android) = (reader.appleApp("ios"), reader.app("android"))
        requiresUserToken = reader.bool("requireUserToken") ?? true
        guard !isNone else {
            reader.refuse("ios", "or android is required")
            return nil
        }
        guard let ios, let android else { return nil }
        (self.ios, self.android) = (ios, android)
    }

    /// Reads what was checked before.
    init(document: JSONObject) {
        var reader = JSONObjectReader(.object(document), unknown: .tolerate, into: InputErrors())
        self = Self(&reader) ?? Self()
    }

    private init() {}

    /// The settings as they are stored and shown, with defaults filled in.
    var json: JSONObject {
        [
            "ios": ios?.json, "android": android.map { ["appId": .string($0)] },
            "requireUserToken": .bool(requiresUserToken),
        ]
    }
}
