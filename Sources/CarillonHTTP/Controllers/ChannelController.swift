import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The channels of a network and who is in them (API section 4). For admins.
struct ChannelController: Controller {
    private static let maximumMembers = 10_000

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/channels", use: list)
        router.get("/v1/networks/{network}/channels/{channel}", use: show)
        router.put("/v1/networks/{network}/channels/{channel}", use: put)
        router.delete("/v1/networks/{network}/channels/{channel}", use: delete)
        router.pages.get("/v1/networks/{network}/channels/{channel}/members", use: listMembers)
        router.put("/v1/networks/{network}/channels/{channel}/members", use: replaceMembers)
        router.put("/v1/networks/{network}/channels/{channel}/members/{user}", use: addMember)
        router.delete("/v1/networks/{network}/channels/{channel}/members/{user}", use: removeMember)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let (page, text) = try DirectoryQuery.read(request)
        let found = try await services.directory.channels(
            matching: text,
            in: access.networkID,
            after: page.after { SearchCursor($0) },
            limit: page.limit
        )
        return page.answer(found.items, next: found.next?.description, \.json)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "channel", as: Channel.self)
        return .json(try await services.directory.channel(id, in: access.networkID).found().json)
    }

    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "channel", as: Channel.self)
        let channel = try Channel(id: id, json: await RequestBodyReader.json(of: request))
        let isNew = try await services.directory.putChannel(channel, in: access.networkID)
        return .json(channel.json, status: isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "channel", as: Channel.self)
        guard try await services.directory.deleteChannel(id, in: access.networkID) else { throw Problem.notFound() }
        return .noContent
    }

    private func listMembers(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "channel", as: Channel.self)
        let page = try Page(QueryParameters(request))
        let members = try await services.directory.members(
            of: id,
            in: access.networkID,
            after: page.after { UserID($0) },
            limit: page.fetchLimit
        )
        guard let members else { throw Problem.notFound() }
        return page.answer(members, key: \.rawValue) { ["userId": .string($0.rawValue)] }
    }

    private func replaceMembers(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "channel", as: Channel.self)
        let users = try await RequestBodyReader.json(of: request).read(as: "invalid-members") { reader in
            reader.userIDs("userIds", required: true, maximumCount: Self.maximumMembers)
        }
        try await services.directory.replaceMembers(of: id, with: Set(users).sorted(), in: access.networkID)
        return .noContent
    }

    private func addMember(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, user) = try await adminAndUser(request, context)
        let channel = try context.identifier("channel", as: Channel.self)
        try await RequestBodyReader.passEmpty(of: request, as: "invalid-member")
        let isNew = try await services.directory.addMember(user, to: channel, in: access.networkID)
        return .json(
            ["channelId": .string(channel.rawValue), "userId": .string(user.rawValue)],
            status: isNew ? .created : .ok
        )
    }

    private func removeMember(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, user) = try await adminAndUser(request, context)
        let channel = try context.identifier("channel", as: Channel.self)
        guard try await services.directory.removeMember(user, from: channel, in: access.networkID) else {
            throw Problem.notFound()
        }
        return .noContent
    }
}
