import CarillonCore

/// An app of Apple's devices, as a binding names it.
struct AppleApp: Sendable, Equatable {
    var id: String
    /// Which of Apple's two services its tokens are of.
    var environment: DeviceAddress.APNsEnvironment

    var json: JSONValue { ["appId": .string(id), "environment": .string(environment.rawValue)] }

    func address(of token: String) -> DeviceAddress { .apns(token: token, appID: id, environment: environment) }
}

extension JSONObjectReader {
    /// The app `{"appId","environment"}`; `.some(nil)` where none is named, and `nil` after noting what is wrong with it.
    mutating func appleApp(_ key: String) -> AppleApp?? {
        var environment: DeviceAddress.APNsEnvironment?
        let id = app(key) { environment = $0.choice("environment", as: DeviceAddress.APNsEnvironment.self) }
        return id.map { $0.map { AppleApp(id: $0, environment: environment ?? .production) } }
    }

    /// The id of the app `{"appId"}`, of which `rest` reads what else it has; `.some(nil)` where none is named, and `nil` after noting
    /// what is wrong with it.
    mutating func app(_ key: String, _ rest: (inout JSONObjectReader) -> Void = { _ in }) -> String?? {
        guard var app = object(key) else { return .some(nil) }
        let id = app.identifier("appId", as: DeviceAddress.self, required: true)
        rest(&app)
        app.finish()
        return id.map { .some($0.rawValue) }
    }

    /// Whether `token` can be one of Apple's; notes what is wrong with it.
    func checkAppleToken(_ token: String, upTo longest: Int) -> Bool {
        let isRight = token.utf8.count <= longest && token.utf8.allSatisfy(\.isHexDigit)
        if !isRight { refuse("token", "must be at most \(longest) hexadecimal digits") }
        return isRight
    }

    /// Whether `token` can be one of Google's; notes what is wrong with it.
    func checkGoogleToken(_ token: String) -> Bool {
        let isRight = token.isPrintableASCII
        if !isRight { refuse("token", "must be printable ASCII without spaces") }
        return isRight
    }
}

extension String {
    /// Whether all of it is printable ASCII without spaces.
    var isPrintableASCII: Bool { utf8.allSatisfy { (0x21...0x7E).contains($0) } }
}
