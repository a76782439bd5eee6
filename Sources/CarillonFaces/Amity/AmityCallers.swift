import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Finds out who calls, and which network is meant: by the API key that apps carry, or by a token that says so itself.
struct AmityCallers: Sendable {
    private static let header = HTTPField.Name.known("x-api-key")

    /// A network that has bound the face, and how it did.
    struct BoundNetwork: Sendable {
        var network: Network
        var settings: AmitySettings
    }

    struct User: Sendable {
        var app: BoundNetwork
        var id: UserID
        var holdsAppKey: Bool
    }

    let services: Services

    /// The network of an app, by its key.
    func app(_ request: Request, _ context: CarillonRequestContext) async throws -> BoundNetwork {
        guard let key = try await key(request) else { throw Problem.unauthorized("X-API-Key is missing") }
        return try await bound(key.networkID, context)
    }

    /// The user of a Bearer token. One that is not Carillon's own says nothing of its network: the API key beside it does.
    func user(_ request: Request, _ context: CarillonRequestContext) async throws -> User {
        let key = try await key(request)
        if let key { context.face.note(network: key.networkID) }
        let access = try await services.authenticator.access(request, context, in: key?.networkID)
        let app = try await bound(access.networkID, context)
        guard let id = access.ownUser else { throw Problem.forbidden("a user's own token is needed") }
        return User(app: app, id: id, holdsAppKey: key?.networkID == app.network.id)
    }

    /// Passes a user of this network who shows a token of their own.
    func require(
        _ user: UserID,
        of network: NetworkID,
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws {
        let access = try await services.authenticator.access(request, context, in: network)
        guard access.ownUser == user else { throw Problem.forbidden("a token of this user is needed") }
    }

    func admin(_ request: Request, _ context: CarillonRequestContext) async throws -> Network {
        let key = try await key(request)
        let access = try await services.authenticator.access(
            request,
            context,
            in: key?.networkID,
            ofUsers: false
        )
        try access.requireAdmin()
        return try await bound(access.networkID, context).network
    }

    /// The app's key, counted against the rate that apps have; `nil` when there is none.
    private func key(_ request: Request) async throws -> FaceKey? {
        let values = request.headers[values: Self.header]
        guard let secret = values.first else { return nil }
        guard values.count == 1, let key = try await services.faceLookup().key(.amity, secret: secret)?.key,
            let network = try await services.network(key.networkID)
        else { throw Problem.unauthorized("the X-API-Key is not valid") }
        try services.rates.take(
            from: .key(network.id, "\(FaceName.amity.rawValue) \(key.name)"),
            rate: network.limits.requestsPerSecond.app
        )
        return key
    }

    private func bound(_ id: NetworkID, _ context: CarillonRequestContext) async throws -> BoundNetwork {
        context.face.note(network: id)
        context.caller.note(.network(id))
        guard let network = try await services.network(id),
            let binding = try await services.faceLookup().binding(.amity, AmityFace.bindingName, ownedBy: id)
        else { throw Problem.notFound("the network has not bound this face") }
        return BoundNetwork(network: network, settings: AmitySettings(document: binding.settings))
    }
}
