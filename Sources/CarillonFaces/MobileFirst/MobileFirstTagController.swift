import CarillonCore
import CarillonEdge
import Hummingbird

/// Tags, which have to be declared here (FACES section H2).
struct MobileFirstTagController: Sendable {
    private static let maximumDescription = 1_000
    private static let pageSize = 1_000

    let services: Services

    func addRoutes(to routes: MobileFirstRoutes) {
        let (all, one) = ("/tags", "/tags/{tag}")
        routes.on(.post, all, as: "create tag", for: .tagsWrite, use: create)
        routes.on(.get, all, as: "list tags", for: .tagsRead, query: nil, readsPages: true, use: list)
        routes.on(.get, one, as: "show tag", for: .tagsRead, use: show)
        routes.on(.put, one, as: "update tag", for: .tagsWrite, use: update)
        routes.on(.delete, one, as: "delete tag", for: .tagsWrite, use: delete)
    }

    private func create(_ caller: MobileFirstCaller) async throws -> Response {
        let tag = try await RequestBodyReader.json(of: caller.request).readForeign { reader -> Tag? in
            let id = reader.identifier("name", as: Tag.self, required: true)
            let description = reader.string("description", maximumBytes: Self.maximumDescription)
            return id.map { Tag(id: $0, description: description) }
        }
        guard !MobileFirstMessage.isEveryone(tag.id.rawValue),
            try await services.tags.tag(tag.id, in: caller.networkID) == nil
        else { throw Problem.mobileFirst(.exists, "there is a tag of this name") }
        let stored = try await services.tags.putTag(tag, in: caller.networkID).tag
        return .json(json(stored, caller), status: .created)
    }

    private func list(_ caller: MobileFirstCaller) async throws -> Response {
        let list = try MobileFirstList(caller, by: [], filtered: ["tagName"])
        let tags: [Tag]
        if let id = try list.id("tagName", as: Tag.self) {
            tags = try await services.tags.tag(id, in: caller.networkID).map { [$0] } ?? []
        } else {
            tags = try await all(of: caller.networkID)
        }
        let page = CountedPage(of: tags, offset: list.offset, limit: list.size)
        return list.answer("tags", page.items.map { json($0, caller) }, of: page.total)
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

    private func show(_ caller: MobileFirstCaller) async throws -> Response {
        .json(json(try await declaredTag(of: caller), caller))
    }

    private func update(_ caller: MobileFirstCaller) async throws -> Response {
        let description = try await RequestBodyReader.json(of: caller.request).readForeign { reader -> String?? in
            .some(reader.string("description", maximumBytes: Self.maximumDescription))
        }
        var tag = try await declaredTag(of: caller)
        if let description { tag.description = description }
        return .json(json(try await services.tags.putTag(tag, in: caller.networkID).tag, caller))
    }

    private func delete(_ caller: MobileFirstCaller) async throws -> Response {
        let tag = try await declaredTag(of: caller)
        try await services.tags.deleteTag(tag.id, in: caller.networkID)
        return .noContent
    }

    private func declaredTag(of caller: MobileFirstCaller) async throws -> Tag {
        guard let tag = try await services.tags.tag(try caller.context.identifier("tag"), in: caller.networkID) else {
            throw Problem.mobileFirst(.notFound, "there is no such tag")
        }
        return tag
    }

    private func json(_ tag: Tag, _ caller: MobileFirstCaller) -> JSONValue {
        let path = [caller.applicationID, "tags", tag.id.rawValue].map(\.percentEncoded).joined(separator: "/")
        return [
            "name": .string(tag.id.rawValue), "description": .string(tag.description ?? ""),
            "createdTime": tag.createdAt?.mobileFirst, "lastUpdatedTime": tag.updatedAt?.mobileFirst,
            "createdMode": "API", "href": .string("\(caller.baseURL)/imfpush/v1/apps/\(path)"),
        ]
    }
}
