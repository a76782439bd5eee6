import CarillonCore
import CarillonEdge
import Hummingbird

/// The people of a network (API section 4). For admins.
struct UserController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        let admins = admins(router)
        admins.pages("/users") { request in
            try await request.search(json: \Person.json) { text, cursor, limit in
                try await services.directory.users(matching: text, in: request.network, after: cursor, limit: limit)
            }
        }
        admins.show("/users/{user}") { request in
            try await services.directory.user(request.user(), in: request.network)?.json
        }
        admins.store("/users/{user}") { request in
            let person = try Person(id: request.user(), json: await request.json())
            return (person.json, try await services.directory.putUser(person, in: request.network))
        }
        admins.remove("/users/{user}") { request in
            try await services.directory.deleteUser(request.user(), in: request.network)
        }
    }
}
