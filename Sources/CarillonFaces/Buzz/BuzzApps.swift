import CarillonCore

/// Which apps a Buzz application is here.
struct BuzzApps: Sendable, Equatable {
    var ios: String
    var android: String

    /// Reads what an admin wrote; `nil` after noting what is wrong.
    init?(_ reader: inout JSONObjectReader, applicationID: String) {
        let (ios, android) = (reader.app("ios"), reader.app("android"))
        guard Identifier<DeviceAddress>(applicationID) != nil else {
            reader.refuse("externalId", "must be an application's id, of 1 to 256 bytes")
            return nil
        }
        guard let ios, let android else { return nil }
        self.ios = ios ?? applicationID
        self.android = android ?? applicationID
    }

    /// Reads what was checked before.
    init(document: JSONObject, applicationID: String) {
        var reader = JSONObjectReader(.object(document), unknown: .tolerate, into: InputErrors())
        let apps = Self(&reader, applicationID: applicationID)
        ios = apps?.ios ?? applicationID
        android = apps?.android ?? applicationID
    }

    var json: JSONObject { ["ios": ["appId": .string(ios)], "android": ["appId": .string(android)]] }
}
