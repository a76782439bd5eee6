import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// The people of a network (API section 4). For admins.
struct UserController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        router.pages.get("/v1/networks/{network}/users", use: list)
        router.get("/v1/networks/{network}/users/{user}", use: show)
        router.put("/v1/networks/{network}/users/{user}", use: put)
        router.delete("/v1/networks/{network}/users/{user}", use: delete)
    }

    private func list(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let access = try await admin(request, context)
        let (page, text) = try DirectoryQuery.read(request)
        let found = try await services.directory.users(
            matching: text,
            in: access.networkID,
            after: page.after { SearchCursor($0) },
            limit: page.limit
        )
        return page.answer(found.items, next: found.next?.description, \.json)
    }

    private func show(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await adminAndUser(request, context)
        return .json(try await services.directory.user(id, in: access.networkID).found().json)
    }

    private func put(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await adminAndUser(request, context)
        let person = try Person(id: id, json: await RequestBodyReader.json(of: request))
        let isNew = try await services.directory.putUser(person, in: access.networkID)
        return .json(person.json, status: isNew ? .created : .ok)
    }

    private func delete(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let (access, id) = try await adminAndUser(request, context)
        guard try await services.directory.deleteUser(id, in: access.networkID) else { throw Problem.notFound() }
        return .noContent
    }
}
