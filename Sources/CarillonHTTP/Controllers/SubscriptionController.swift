import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Who subscribes to which tags (FACES section B2). For admins; users subscribe themselves and their devices to tags that are
/// self-service, and see no others.
struct SubscriptionController: Controller {
    private typealias Target = (access: Access, tag: TagID, subscriber: Subscriber)

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let kinds: [(RouterPath, @Sendable (Request, CarillonRequestContext) async throws -> Target)] = [
            ("/v1/networks/{network}/tags/{tag}/users/{user}", user),
            ("/v1/networks/{network}/tags/{tag}/devices/{device}", device),
        ]
        for (path, target) in kinds {
            router.put(path) { request, context in try await subscribe(try await target(request, context), request) }
            router.delete(path) { request, context in try await unsubscribe(try await target(request, context)) }
        }
        router.pages.get("/v1/networks/{network}/users/{user}/tags", use: listUsersTags)
        for device in DeviceController.paths {
            router.pages.get(RouterPath("/v1/networks/{network}/devices/\(device)/tags"), use: listDevicesTags)
        }
    }

    private func subscribe(_ target: Target, _ request: Request) async throws -> Response {
        try await RequestBodyReader.passEmpty(of: request, as: "invalid-subscription")
        try await checkSelfService(target)
        let isSubscribed = try await services.tags.subscribe(
            target.subscriber,
            to: target.tag,
            in: target.access.networkID,
            ifOwnedBy: target.access.ownUser,
            by: target.access.writer
        )
        guard isSubscribed else { throw Problem.notFound("there is no such device") }
        return .noContent
    }

    private func unsubscribe(_ target: Target) async throws -> Response {
        try await checkSelfService(target)
        try await services.tags.unsubscribe(
            target.subscriber,
            from: target.tag,
            in: target.access.networkID,
            ifOwnedBy: target.access.ownUser
        )
        return .noContent
    }

    private func listUsersTags(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        let user = try access.knownUser(try context.identifier("user", as: Person.self))
        let (page, tags) = try await page(of: .user(user), access, request)
        if tags.isEmpty, access.ownUser == nil {
            guard try await services.directory.user(user, in: access.networkID) != nil else { throw Problem.notFound() }
        }
        return answer(tags, page)
    }

    private func listDevicesTags(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await access(request, context)
        if access.ownUser == nil { try access.requireAdmin() }
        let id = try DeviceController.deviceID(context)
        guard let device = try await services.devices.device(id, in: access.networkID),
            device.userID == access.ownUser ?? device.userID
        else { throw Problem.notFound() }
        let (page, tags) = try await page(of: .device(id), access, request)
        return answer(tags, page)
    }

    private func page(
        of subscriber: Subscriber,
        _ access: Access,
        _ request: Request
    ) async throws -> (page: Page, tags: [TagID]) {
        let page = try Page(QueryParameters(request))
        let tags = try await services.tags.tags(
            of: subscriber,
            in: access.networkID,
            selfService: access.ownUser != nil,
            after: page.after { TagID($0) },
            limit: page.fetchLimit
        )
        return (page, tags)
    }

    private func answer(_ tags: [TagID], _ page: Page) -> Response {
        page.answer(tags, key: \.rawValue) { ["tag": .string($0.rawValue)] }
    }

    private func user(_ request: Request, _ context: CarillonRequestContext) async throws -> Target {
        let access = try await access(request, context)
        let user = try access.knownUser(try context.identifier("user", as: Person.self))
        return (access, try context.identifier("tag", as: Tag.self), .user(user))
    }

    private func device(_ request: Request, _ context: CarillonRequestContext) async throws -> Target {
        let access = try await access(request, context)
        if access.ownUser == nil { try access.requireAdmin() }
        let device = try context.identifier("device", as: Device.self)
        return (access, try context.identifier("tag", as: Tag.self), .device(device))
    }

    /// Whether a tag is there at all is nothing that users are told.
    private func checkSelfService(_ target: Target) async throws {
        guard target.access.ownUser != nil else { return }
        guard try await services.tags.tag(target.tag, in: target.access.networkID)?.isSelfService == true else {
            throw Problem.forbidden("users may subscribe to tags with selfService only")
        }
    }
}
