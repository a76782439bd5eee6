package import CarillonCore
package import CarillonEdge
package import Hummingbird

/// Ably's REST interface for push, as its SDKs speak it (FACES part E).
package struct AblyFace: Face {
    package let name = FaceName.ably
    package let roots = ["/time", "/keys", "/push", "/channels", "/messages"]
    /// Its SDK for browsers calls from pages.
    package let isForBrowsers = true

    private let services: Services

    package init(_ services: Services) {
        self.services = services
    }

    package func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        .ably(error as? AblyError ?? AblyError(problem), to: request)
    }

    package func addRoutes(to routes: FaceRoutes) {
        let authenticator = AblyAuthenticator(services: services)
        AblyTokenController(services: services, authenticator: authenticator).addRoutes(to: routes)
        let known = AblyRoutes(routes: routes, authenticator: authenticator)
        AblyDeviceController(services: services, authenticator: authenticator).addRoutes(to: known)
        AblySubscriptionController(services: services, authenticator: authenticator).addRoutes(to: known)
        AblyPublishController(services: services).addRoutes(to: known)
        AblyMessageController(services: services).addRoutes(to: known)
        AblyLogController(services: services).addRoutes(to: known)
    }

    package func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        guard let settings = AblySettings(&reader) else { return nil }
        guard Self.isAppID(name) else {
            reader.refuse("appId", "in the path must be 1 to 64 letters, digits, _ and -, as in the names of its keys")
            return nil
        }
        return FaceSettings(settings.document)
    }

    /// Makes a key `application.key:secret`.
    package func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        let rights = rights(from: &reader)
        guard let name = request.name ?? Self.name(among: request.boundNames) else {
            reader.refuse("name", "is required: the application's id, a dot, and what the key is to be called")
            return nil
        }
        let parts = name.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy({ Self.isAppID($0) }) else {
            reader.refuse("name", "must be the application's id, a dot, and 1 to 64 letters, digits, _ and -")
            return nil
        }
        // Names are everybody's: a name under an application that is somebody else's, or nobody's yet, is not this network's to take.
        guard request.boundNames.contains(String(parts[0])) else {
            reader.refuse("name", "must begin with the id of an application that the network has bound")
            return nil
        }
        let secret = request.secret ?? Base64URL.encode(randomBytes(32))
        guard (1...256).contains(secret.utf8.count), secret.isPrintableASCII else {
            reader.refuse(
                "secret",
                "must be 1 to 256 printable ASCII characters without spaces: what stands behind the colon"
            )
            return nil
        }
        guard let rights else { return nil }
        let key = FaceKey(
            face: .ably,
            networkID: request.networkID,
            name: name,
            rights: .object(rights.json),
            label: request.label,
            createdAt: request.now
        )
        return NewFaceKey(
            stored: StoredFaceKey(key: key, proof: .secret(Secret(secret))),
            shown: ["key": .string("\(name):\(secret)")]
        )
    }

    private func rights(from reader: inout JSONObjectReader) -> AblyCapability? {
        guard let value = reader.value("rights", required: true) else { return nil }
        guard case .object(let object) = value, let capability = AblyCapability(value), !capability.isEmpty else {
            reader.refuse(
                "rights",
                "must be 1 to \(AblyCapability.maximumCount) resources, each with the list of its operations"
            )
            return nil
        }
        for (resource, list) in object.members {
            guard case .array(let operations) = list else { continue }
            let isKnown = operations.allSatisfy { $0.text.map(AblyCapability.known.contains) ?? false }
            guard isKnown, !resource.isEmpty else {
                reader.refuse(
                    "rights",
                    "must name operations of Ably's, such as push-admin, push-subscribe and publish"
                )
                return nil
            }
        }
        return capability
    }

    /// A name for a key of the only application that there is.
    private static func name(among applications: [String]) -> String? {
        guard applications.count == 1, let application = applications.first else { return nil }
        return "\(application).\(Base64URL.encode(randomBytes(6)))"
    }

    private static func isAppID(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0.isASCIIAlphanumeric || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: "-") }
    }
}
