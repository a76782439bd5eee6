import CarillonCore
import CarillonEdge
import Hummingbird

protocol Controller: Sendable {
    var services: Services { get }
    func addRoutes(to router: Router<CarillonRequestContext>)
}

extension Controller {
    /// The caller in the network of the path, by `Authorization`; where only backends have business, nobody is asked about foreign
    /// tokens.
    func access(
        _ request: Request,
        _ context: CarillonRequestContext,
        ofUsers: Bool = true
    ) async throws -> Access {
        let network = try context.identifier("network", as: Network.self)
        return try await services.authenticator.access(request, context, in: network, ofUsers: ofUsers)
    }

    /// Where routes are added for a network's admins.
    func admins(_ router: Router<CarillonRequestContext>) -> NetworkRoutes {
        NetworkRoutes(router: router) { try await services.authenticator.admin($0, $1) }
    }

    /// Where routes are added for everybody of a network: what each of them may do is the handler's to find out.
    func callers(_ router: Router<CarillonRequestContext>) -> NetworkRoutes {
        NetworkRoutes(router: router) { try await access($0, $1) }
    }
}

extension Services {
    /// The endpoint of a path; 404 where there is none.
    func endpoint(of request: NetworkRequest) async throws -> Endpoint {
        let id = try request.id("endpoint", as: Endpoint.self)
        return try await endpoints.endpoints(of: request.network).first { $0.id == id }.found()
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
