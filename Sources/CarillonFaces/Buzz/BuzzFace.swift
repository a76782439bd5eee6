package import CarillonCore
package import CarillonEdge
import HTTPTypes
package import Hummingbird

/// Buzz's (Namaka's) registration of push tokens, which its apps send after each login (FACES part G).
package struct BuzzFace: Face {
    static let path = "/api/MobilePhoneNotificationToken"

    package let name = FaceName.buzz
    package let roots = [BuzzFace.path]

    private let services: Services

    package init(_ services: Services) {
        self.services = services
    }

    package func addRoutes(to routes: FaceRoutes) {
        routes.on(.put, RouterPath(Self.path), as: "register token", use: register)
    }

    /// The device is the one that a Matrix pushkey with this token meets: its id is made of the address. Whoever logs in last has it.
    private func register(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let registration = try BuzzRegistration(try await RequestBodyReader.json(of: request))
        guard let binding = try await services.faceLookup().binding(.buzz, registration.applicationID) else {
            throw Problem.notFound("no network has bound this application")
        }
        context.face.note(network: binding.networkID)
        let access = try await services.authenticator.access(request, context, in: binding.networkID)
        guard let user = access.ownUser else { throw Problem.forbidden("a user's own token is needed") }
        let address = registration.address(BuzzApps(document: binding.settings, applicationID: binding.externalID))
        let device = Device(
            id: DeviceID(reachedAt: address),
            userID: user,
            address: address,
            registeredAt: services.clock.now()
        )
        _ = try await services.devices.putDevice(device, in: binding.networkID, by: .user)
        return .json([:])
    }

    /// `{"message"}`, all that its apps look for.
    package func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response {
        return .json(
            ["message": .string(problem.detail ?? problem.title)],
            status: problem.status == .conflict ? .badRequest : problem.status,
            headers: problem.headersOfProtocol
        )
    }

    /// Reads `{"ios":{"appId"},"android":{"appId"}}`: each is the application's id unless it says otherwise.
    package func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings? {
        BuzzApps(&reader, applicationID: name).map { FaceSettings($0.json) }
    }

    /// There are none: a user's token and the application's id are all that Buzz's apps have.
    package func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey? {
        _ = reader.value("rights")
        reader.refuse("rights", "is of no use here: Buzz's apps carry no keys")
        return nil
    }
}
