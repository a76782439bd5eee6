import CarillonCore
import CarillonEdge
import Hummingbird

protocol Controller: Sendable {
    var services: Services { get }
    func addRoutes(to router: Router<CarillonRequestContext>)
}

extension Controller {
    func access(_ request: Request, _ context: CarillonRequestContext) async throws -> Access {
        try await services.authenticator.access(request, context)
    }

    func admin(_ request: Request, _ context: CarillonRequestContext) async throws -> Access {
        try await services.authenticator.admin(request, context)
    }

    /// An admin, and an id of the path.
    func admin<Subject>(
        _ request: Request,
        _ context: CarillonRequestContext,
        and name: String,
        as subject: Subject.Type
    ) async throws -> (access: Access, id: Identifier<Subject>) {
        (try await admin(request, context), try context.identifier(name, as: subject))
    }

    func adminAndUser(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (access: Access, user: UserID) {
        let (access, id) = try await admin(request, context, and: "user", as: Person.self)
        return (access, try access.user(id))
    }

    /// An admin for any user, or a user for themselves: the caller, and the user of the path.
    func accessToUser(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (access: Access, user: UserID) {
        let access = try await access(request, context)
        return (access, try access.user(try context.identifier("user", as: Person.self)))
    }
}

extension Services {
    /// An endpoint of a network; 404 where there is none.
    func endpoint(_ id: EndpointID, in network: NetworkID) async throws -> Endpoint {
        try await endpoints.endpoints(of: network).first { $0.id == id }.found()
    }
}

extension RequestBodyReader {
    /// Passes a body without any member, and none.
    static func passEmpty(of request: Request, as problem: String) async throws {
        // The optimiser of Swift 6.3.1 crashes on an optional chain here.
        if let body = try await optionalJSON(of: request) { try body.read(as: problem) { _ in () } }
    }

    /// Reads `{"overlapSeconds":…}`, which may be left out.
    static func overlap(of request: Request) async throws -> (Duration, body: JSONValue?) {
        let body = try await optionalJSON(of: request)
        return (try (body ?? .object(JSONObject())).read(as: "invalid-rotation") { $0.overlap() }, body)
    }
}

extension Optional {
    /// What there is; 404 where there is nothing.
    func found() throws(Problem) -> Wrapped {
        guard let self else { throw .notFound() }
        return self
    }
}

extension Page {
    /// The answer: a page of a list that is read whole, which is in the order of its keys' bytes.
    func answer<Item>(_ all: [Item], by key: (Item) -> String, _ json: (Item) -> JSONValue) -> Response {
        let rest = all.drop { item in
            guard let after else { return false }
            return !after.utf8.lexicographicallyPrecedes(key(item).utf8)
        }
        return answer(Array(rest.prefix(fetchLimit)), key: key, json)
    }
}
