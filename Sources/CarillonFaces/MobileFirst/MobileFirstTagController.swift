import CarillonCore
import CarillonEdge
import Hummingbird

/// Tags, which have to be declared here (FACES section H2).
struct MobileFirstTagController: Sendable {
    private static let root = "/imfpush/v1/apps/{application}/tags"
    private static let maximumDescription = 1_000
    private static let pageSize = 1_000

    let authority: MobileFirstAuthority
    let services: Services

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, RouterPath(Self.root), as: "create tag", use: create)
        routes.on(.get, RouterPath(Self.root), as: "list tags", readsPages: true, use: list)
        routes.on(.get, RouterPath(Self.root + "/{tag}"), as: "show tag", use: show)
        routes.on(.put, RouterPath(Self.root + "/{tag}"), as: "update tag", use: update)
        routes.on(.delete, RouterPath(Self.root + "/{tag}"), as: "delete tag", use: delete)
    }

    private func create(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authority.caller(request, context, for: .tagsWrite)
        let tag = try await RequestBodyReader.json(of: request).readForeign { reader -> Tag? in
            let id = reader.identifier("name", as: Tag.self, required: true)
            let description = reader.string("description", maximumBytes: Self.maximumDescription)
            return id.map { Tag(id: $0, description: description) }
        }
        guard !MobileFirstMessage.isEveryone(tag.id.rawValue),
            try await services.tags.tag(tag.id, in: caller.networkID) == nil
        else { throw Problem.mobileFirst(.exists, "there is a tag of this name") }
        let stored = try await services.tags.putTag(tag, in: caller.networkID).tag
        return .json(json(stored, request, context, caller), status: .created)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authority.caller(request, context, for: .tagsRead, query: nil)
        let list = try MobileFirstList(request, context, by: [], filtered: ["tagName"])
        var tags: [Tag] = []
        if list.narrowed["tagName"] != nil {
            let id: TagID? = try list.id("tagName")
            if let id { tags = try await services.tags.tag(id, in: caller.networkID).map { [$0] } ?? [] }
        } else {
            tags = try await all(of: caller.networkID)
        }
        let page = CountedPage(of: tags, offset: list.offset, limit: list.size)
        return list.answer("tags", page.items.map { json($0, request, context, caller) }, of: page.total)
    }

    /// A network's tags, as many as are counted.
    private func all(of network: NetworkID) async throws -> [Tag] {
        var tags: [Tag] = []
        while tags.count < CountedPage<Tag>.maximumTotal {
            let page = try await services.tags.tags(in: network, after: tags.last?.id, limit: Self.pageSize)
            tags += page
            if page.count < Self.pageSize { break }
        }
        return tags
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authority.caller(request, context, for: .tagsRead)
        return .json(
            json(try await services.declaredTag(context.identifier("tag"), for: caller), request, context, caller)
        )
    }

    private func update(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authority.caller(request, context, for: .tagsWrite)
        let description = try await RequestBodyReader.json(of: request).readForeign { reader -> String?? in
            .some(reader.string("description", maximumBytes: Self.maximumDescription))
        }
        var tag = try await services.declaredTag(context.identifier("tag"), for: caller)
        if let description { tag.description = description }
        return .json(json(try await services.tags.putTag(tag, in: caller.networkID).tag, request, context, caller))
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let caller = try await authority.caller(request, context, for: .tagsWrite)
        let tag = try await services.declaredTag(context.identifier("tag"), for: caller)
        try await services.tags.deleteTag(tag.id, in: caller.networkID)
        return .noContent
    }

    private func json(_ tag: Tag, _ request: Request, _ context: CarillonRequestContext, _ caller: MobileFirstCaller)
        -> JSONValue
    {
        var json: JSONObject = ["name": .string(tag.id.rawValue), "description": .string(tag.description ?? "")]
        json["createdTime"] = tag.createdAt?.mobileFirst
        json["lastUpdatedTime"] = tag.updatedAt?.mobileFirst
        json["createdMode"] = "API"
        let path = [caller.applicationID, "tags", tag.id.rawValue].map(\.percentEncoded).joined(separator: "/")
        json["href"] = .string("\(request.baseURL(context))/imfpush/v1/apps/\(path)")
        return .object(json)
    }
}

extension Services {
    func declaredTag(_ id: TagID, for caller: MobileFirstCaller) async throws -> Tag {
        guard let tag = try await tags.tag(id, in: caller.networkID) else {
            throw Problem.mobileFirst(.notFound, "there is no such tag")
        }
        return tag
    }
}
