import CarillonCore
import CarillonEdge
import Hummingbird

/// The tags that a network has declared (FACES section B2). For admins.
struct TagController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/tags") { request in
            try await request.list(by: \Tag.id.rawValue, after: { TagID($0) }, json: \Tag.json) {
                try await services.tags.tags(in: request.network, after: $0, limit: $1)
            }
        }
        admins.show("/tags/{tag}") { request in
            try await services.tags.tag(request.id("tag"), in: request.network)?.json
        }
        admins.store("/tags/{tag}") { request in
            let tag = try Tag(id: request.id("tag"), json: await request.json())
            let stored = try await services.tags.putTag(tag, in: request.network)
            return (stored.tag.json, stored.isNew)
        }
        admins.delete("/tags/{tag}") { request in
            try await services.tags.deleteTag(request.id("tag"), in: request.network)
            return .noContent
        }
        // Of a tag that nobody has declared, too: it may have subscribers.
        admins.pages("/tags/{tag}/subscribers") { request in
            let id = try request.id("tag", as: Tag.self)
            let read = { (text: String) in Subscriber(cursor: text) }
            return try await request.list(by: \Subscriber.cursor, after: read, json: \Subscriber.json) {
                try await services.tags.subscribers(of: id, in: request.network, after: $0, limit: $1)
            }
        }
    }
}
