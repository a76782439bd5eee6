package import CarillonCore
package import CarillonEdge
package import Hummingbird

/// Amity's (formerly Upstra's and Eko's) devices and notification settings, as its SDKs and its admins' servers ask for them
/// (FACES part F).
package struct AmityFace: Face {
    /// What a network binds: there is one for each, found by the API key or the token.
    static let bindingName = "default"

    package let name = FaceName.amity
    /// Devices, then users' settings and those of the network.
    package let roots = [
        AmityDeviceController.path, AmityDeviceController.userPath, AmitySettingController.userPath,
        AmitySettingController.adminPath,
    ]

    private let services: Services

    package init(_ services: Services) {
        self.services = services
    }

    package func addRoutes(to routes: FaceRoutes) {
        let callers = AmityCallers(services: services)
        AmityDeviceController(services: services, callers: callers).addRoutes(to: routes)
        AmitySettingController(services: services, callers: callers).addRoutes(to: routes)
    }

    package func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        AmityAnswer.refusal(problem)
    }

    /// Reads `{"ios":{"appId","environment"},"android":{"appId"},"requireUserToken"}`.
    package func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        let settings = AmitySettings(&reader)
        guard name == Self.bindingName else {
            reader.refuse("externalId", "must be \(Self.bindingName): the API key says which network it is")
            return nil
        }
        // Nobody comes to it but with a key or a token of the network's own.
        return settings.map { FaceSettings($0.json, isPrivate: true) }
    }

    /// Devices without a user's token are for networks that let apps register them.
    package func conflict(of settings: FaceSettings, in network: Network) -> Problem? {
        guard !AmitySettings(document: settings.document).requiresUserToken, network.deviceRegistration != .appKey
        else {
            return nil
        }
        return .conflict(
            "user-token-required",
            "requireUserToken may be false only where the network's deviceRegistration is appKey"
        )
    }

    /// Reads `{"secret","rights":"device"}`: the API key that apps carry.
    package func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        guard let rights = reader.choice("rights", as: Rights.self, required: true) else { return nil }
        let secret = request.secret ?? APIKeySecret.random(43)
        guard secret.isPrintableASCII, !secret.isEmpty else {
            reader.refuse("secret", "must be printable ASCII characters without spaces")
            return nil
        }
        return NewFaceKey(
            sent: secret,
            name: request.name ?? "app-\(APIKeySecret.random(8))",
            face: name,
            rights: .string(rights.rawValue),
            for: request
        )
    }

    private enum Rights: String, CaseIterable {
        /// Register and unregister devices, and say which network it is about.
        case device
    }
}
