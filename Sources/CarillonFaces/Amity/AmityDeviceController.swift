import CarillonCore
import CarillonEdge
import Hummingbird

struct AmityDeviceController: Sendable {
    static let path = "/v1/notification"
    static let userPath = "/api/v3/notification/register"

    let services: Services
    let callers: AmityCallers

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, RouterPath(Self.path), as: "register device", use: register)
        routes.on(.post, RouterPath(Self.userPath), as: "register own device", use: registerOwn)
        routes.on(.delete, RouterPath(Self.path), as: "unregister device", use: unregister)
    }

    private func register(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let app = try await callers.app(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let device = try AmityRegistration.device(body, app.settings, registeredAt: services.clock.now())
        // Whoever has the app's key could register devices for anybody, so the network has to have said that this is meant.
        if app.settings.requiresUserToken || app.network.deviceRegistration != .appKey {
            try await callers.require(device.userID, of: app.network.id, request, context)
        }
        // The last write wins, as these SDKs are told, also where the device was another user's with another token: to take it
        // from them needs no more than to unregister it does.
        _ = try await services.devices.putDevice(device, replacing: .anybodys, in: app.network.id, by: .user)
        return AmityAnswer.success
    }

    /// Registers for the user of a token; the key of the app is needed only where the token says nothing of its network.
    private func registerOwn(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let user = try await callers.user(request, context)
        let body = try await RequestBodyReader.json(of: request)
        let now = services.clock.now()
        let device = try AmityRegistration.device(body, user.app.settings, of: user.id, registeredAt: now)
        guard device.userID == user.id else { throw Problem.forbidden("a token of this user is needed") }
        // A token alone takes nobody else's device from them, unless it is the same phone.
        let former: ReplaceableDevice = user.holdsAppKey ? .anybodys : .anyOfTheirs
        _ = try await services.devices.putDevice(device, replacing: former, in: user.app.network.id, by: .user)
        return AmityAnswer.success
    }

    private func unregister(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let app = try await callers.app(request, context)
        let wanted = try AmityUnregistration(
            query: QueryParameters(request),
            body: await RequestBodyReader.bytes(of: request, upTo: RequestBodyReader.limit)
        )
        let isRemoved = try await services.devices.deleteDevice(
            wanted.deviceID,
            ifOwnedBy: wanted.userID,
            in: app.network.id
        )
        if !isRemoved { context.face.note(reason: "there is no such device, or it is another user's") }
        return AmityAnswer.success
    }
}
