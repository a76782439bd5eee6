import CarillonCore
import CarillonEdge
import Hummingbird

/// Who subscribes to which tags (FACES section B2). For admins; users subscribe themselves and their devices to tags that are
/// self-service, and see no others.
struct SubscriptionController: Controller {
    private typealias Target = (tag: TagID, subscriber: Subscriber)

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let callers = callers(router)
        let kinds: [(String, @Sendable (NetworkRequest) throws -> Target)] = [
            ("/tags/{tag}/users/{user}", user),
            ("/tags/{tag}/devices/{device}", device),
        ]
        for (path, target) in kinds {
            callers.put(path) { try await subscribe(try target($0), $0) }
            callers.delete(path) { try await unsubscribe(try target($0), $0) }
        }
        callers.pages("/users/{user}/tags") { try await list(.user($0.knownUser()), $0) }
        for device in DeviceController.paths { callers.pages("/devices/\(device)/tags", use: listDevicesTags) }
    }

    private func subscribe(_ target: Target, _ request: NetworkRequest) async throws -> Response {
        try await request.passEmptyBody(as: "invalid-subscription")
        try await checkSelfService(target.tag, request)
        let isSubscribed = try await services.tags.subscribe(
            target.subscriber,
            to: target.tag,
            in: request.network,
            ifOwnedBy: request.access.ownUser,
            by: request.access.writer
        )
        guard isSubscribed else { throw Problem.notFound("there is no such device") }
        return .noContent
    }

    private func unsubscribe(_ target: Target, _ request: NetworkRequest) async throws -> Response {
        try await checkSelfService(target.tag, request)
        try await services.tags.unsubscribe(
            target.subscriber,
            from: target.tag,
            in: request.network,
            ifOwnedBy: request.access.ownUser
        )
        return .noContent
    }

    private func listDevicesTags(_ request: NetworkRequest) async throws -> Response {
        if request.access.ownUser == nil { try request.access.requireAdmin() }
        let id = try DeviceController.deviceID(request)
        let device = try await services.devices.device(id, in: request.network).found()
        guard device.userID == request.access.ownUser ?? device.userID else { throw Problem.notFound() }
        return try await list(.device(id), request)
    }

    private func list(_ subscriber: Subscriber, _ request: NetworkRequest) async throws -> Response {
        let page = try request.page()
        let tags = try await services.tags.tags(
            of: subscriber,
            in: request.network,
            selfService: request.access.ownUser != nil,
            after: page.after { TagID($0) },
            limit: page.fetchLimit
        )
        if case .user(let user) = subscriber, tags.isEmpty, request.access.ownUser == nil {
            _ = try await services.directory.user(user, in: request.network).found()
        }
        return page.answer(tags, key: \.rawValue) { ["tag": .string($0.rawValue)] }
    }

    private func user(_ request: NetworkRequest) throws -> Target {
        let user = try request.knownUser()
        return (try request.id("tag"), .user(user))
    }

    private func device(_ request: NetworkRequest) throws -> Target {
        if request.access.ownUser == nil { try request.access.requireAdmin() }
        let device = try request.id("device", as: Device.self)
        return (try request.id("tag"), .device(device))
    }

    /// Whether a tag is there at all is nothing that users are told.
    private func checkSelfService(_ tag: TagID, _ request: NetworkRequest) async throws {
        guard request.access.ownUser != nil else { return }
        guard try await services.tags.tag(tag, in: request.network)?.isSelfService == true else {
            throw Problem.forbidden("users may subscribe to tags with selfService only")
        }
    }
}
