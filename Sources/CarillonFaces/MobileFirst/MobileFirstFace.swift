package import CarillonCore
package import CarillonEdge
package import Hummingbird

/// MobileFirst's push service, as its SDKs and its customers' back ends call it (FACES part H).
package struct MobileFirstFace: Face {
    package let name = FaceName.imfpush
    /// The push service, and the token route of the authorization server.
    package let roots = ["/imfpush/v1/apps", MobileFirstTokenController.path]

    private let services: Services

    package init(_ services: Services) {
        self.services = services
    }

    /// An error in the form of the push service, or of OAuth on the token route.
    package func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        request.uri.path.hasPrefix(MobileFirstTokenController.path)
            ? problem.oauthResponse : problem.mobileFirstResponse
    }

    package func addRoutes(to routes: FaceRoutes) {
        MobileFirstTokenController(services: services).addRoutes(to: routes)
        let known = MobileFirstRoutes(routes: routes, authority: MobileFirstAuthority(services: services))
        MobileFirstDeviceController(services: services).addRoutes(to: known)
        MobileFirstSubscriptionController(services: services).addRoutes(to: known)
        MobileFirstTagController(services: services).addRoutes(to: known)
        MobileFirstMessageController(services: services).addRoutes(to: known)
    }

    package func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        guard !name.contains("/"), !name.contains("*") else {
            reader.refuse("externalId", "must be one application, without / and *")
            return nil
        }
        return MobileFirstApplication(from: &reader).map { FaceSettings($0.document) }
    }

    /// Makes a key; its name is the client id, and its rights are scopes.
    package func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        guard let rights = MobileFirstRights(from: &reader) else { return nil }
        if let name = request.name, name.contains(":") {
            reader.refuse("name", "must not contain a colon, which ends a client id")
            return nil
        }
        return NewFaceKey(
            sent: request.secret ?? APIKeySecret.random(43),
            name: request.name ?? APIKeySecret.random(12),
            face: self.name,
            rights: JSONValue(rights.scopes.sorted()),
            for: request
        )
    }
}
