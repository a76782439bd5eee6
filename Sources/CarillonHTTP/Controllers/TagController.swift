import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The tags that a network has declared (FACES section B2). For admins.
struct TagController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/tags", use: list)
        router.get("/v1/networks/{network}/tags/{tag}", use: show)
        router.put("/v1/networks/{network}/tags/{tag}", use: put)
        router.delete("/v1/networks/{network}/tags/{tag}", use: delete)
        router.pages.get("/v1/networks/{network}/tags/{tag}/subscribers", use: listSubscribers)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let page = try Page(QueryParameters(request))
        let tags = try await services.tags.tags(
            in: access.networkID,
            after: page.after { TagID($0) },
            limit: page.fetchLimit
        )
        return page.answer(tags, key: \.id.rawValue, \.json)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "tag", as: Tag.self)
        return .json(try await services.tags.tag(id, in: access.networkID).found().json)
    }

    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "tag", as: Tag.self)
        let tag = try Tag(id: id, json: await RequestBodyReader.json(of: request))
        let stored = try await services.tags.putTag(tag, in: access.networkID)
        return .json(stored.tag.json, status: stored.isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "tag", as: Tag.self)
        try await services.tags.deleteTag(id, in: access.networkID)
        return .noContent
    }

    /// Of a tag that nobody has declared, too: it may have subscribers.
    private func listSubscribers(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await admin(request, context, and: "tag", as: Tag.self)
        let page = try Page(QueryParameters(request))
        let subscribers = try await services.tags.subscribers(
            of: id,
            in: access.networkID,
            after: page.after { Subscriber(cursor: $0) },
            limit: page.fetchLimit
        )
        return page.answer(subscribers, key: \.cursor, \.json)
    }
}
