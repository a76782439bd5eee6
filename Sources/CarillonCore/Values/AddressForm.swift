/// How addresses of a provider are written in JSON (API section 6), besides its name.
struct AddressForm: Sendable {
    /// Reads one; `nil` after noting what is wrong.
    let read: @Sendable (ProviderName, inout JSONObjectReader, DeviceAddressReader) -> DeviceAddress?
    /// Writes one; where it is shown, no more of a token than its end.
    let write: @Sendable (DeviceAddress, _ isShown: Bool, inout JSONObject) -> Void

    /// `token` as `token` reads it, `appId`, and `environment` where the push service has two.
    static func token(
        hasEnvironments: Bool = false,
        _ token: @escaping @Sendable (inout JSONObjectReader) -> String? = { $0.printableToken() }
    ) -> AddressForm {
        AddressForm { provider, reader, _ in
            let token = token(&reader)
            let appID = reader.identifier("appId", as: DeviceAddress.self, required: true)
            let environment =
                hasEnvironments
                ? reader.choice("environment", as: DeviceAddress.APNsEnvironment.self, required: true) : nil
            guard let token, let appID, !hasEnvironments || environment != nil else { return nil }
            return DeviceAddress(provider, token, appID: appID.rawValue, environment: environment)
        } write: { address, isShown, json in
            if !isShown { json["token"] = .string(address.text) }
            json["appId"] = .string(address.appID)
            json["environment"] = address.environment.map { .string($0.rawValue) }
            if isShown { json["token"] = .string(address.textEnd) }
        }
    }
}

extension JSONObjectReader {
    static let maximumTokenBytes = 4096

    /// `token`, as most push services make them.
    fileprivate mutating func printableToken() -> String? {
        guard let token = string("token", required: true, maximumBytes: Self.maximumTokenBytes, nonEmpty: true) else {
            return nil
        }
        guard token.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
            refuse("token", "must be printable ASCII without spaces")
            return nil
        }
        return token
    }
}

extension DeviceAddress {
    /// The end of a token: enough to tell two apart, too little to use one. Nothing of a short one.
    var textEnd: String { "…" + (text.utf8.count >= 16 ? String(text.suffix(4)) : "") }
}
