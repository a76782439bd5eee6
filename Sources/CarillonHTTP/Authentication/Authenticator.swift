import CarillonCore
import HTTPTypes
import Hummingbird

/// Finds out who calls.
///
/// 401 is for credentials that prove nothing, and for none. Credentials that are valid for another network, or for none
/// that exists, are answered with 404: to their owner there is nothing here.
struct Authenticator: Sendable {
    private enum Identity {
        case `operator`
        case caller(Principal, VerifiableCredentials)
    }

    private let operatorToken: OperatorToken
    private let cache: CredentialCache
    private let clock: WallClock

    init(operatorToken: OperatorToken, cache: CredentialCache, clock: WallClock) {
        self.operatorToken = operatorToken
        self.cache = cache
        self.clock = clock
    }

    /// The caller in the network of the path, by `Authorization`.
    func access(_ request: Request, _ context: CarillonRequestContext) async throws -> Access {
        let networkID = try context.identifier("network", as: Network.self)
        switch try await identity(request.headers, preferring: networkID) {
        case .operator:
            guard let credentials = try await cache.credentials(of: networkID) else { throw Problem.notFound() }
            return Access(network: credentials.network, principal: .operator)
        case .caller(let principal, let credentials):
            guard credentials.network.id == networkID else { throw Problem.notFound() }
            return Access(network: credentials.network, principal: principal)
        }
    }

    /// The caller in the network of the path, when it has to be an admin.
    func admin(_ request: Request, _ context: CarillonRequestContext) async throws -> Access {
        let access = try await access(request, context)
        try access.requireAdmin()
        return access
    }

    /// Passes operators; `networkID` is the network of the path, if there is one.
    func requireOperator(_ request: Request, networkID: NetworkID? = nil) async throws {
        guard case .caller(_, let credentials) = try await identity(request.headers, preferring: networkID) else {
            return
        }
        if let networkID, credentials.network.id != networkID { throw Problem.notFound() }
        throw Problem.forbidden("the operator's token is needed")
    }

    /// The secrets that verify a webhook of a network; `nil` for an unknown one, which nobody can sign for.
    func webhookSecrets(of networkID: NetworkID) async throws -> [WebhookSecret]? {
        try await cache.credentials(of: networkID)?.webhookSecrets(at: clock.now())
    }

    private func identity(_ headers: HTTPFields, preferring networkID: NetworkID?) async throws -> Identity {
        guard let text = try BearerToken.text(headers) else {
            throw Problem.unauthorized("Authorization is missing")
        }
        if operatorToken.matches(text) { return .operator }
        if text.hasPrefix(APIKeySecret.prefix) {
            guard let key = APIKeySecret(text), let credentials = try await cache.credentials(holding: key),
                let role = credentials.role(of: key)
            else { throw Problem.unauthorized("the API key is not valid") }
            return .caller(.apiKey(role), credentials)
        }
        guard let token = UserToken(text), token.isCurrent(at: clock.now()) else {
            throw Problem.unauthorized("the token is not valid")
        }
        let isMeantHere = networkID.map { token.networks.contains($0) } ?? false
        guard let audience = isMeantHere ? networkID : token.networks.first,
            let credentials = try await cache.credentials(of: audience), credentials.verifies(token)
        else { throw Problem.unauthorized("the token is not valid") }
        return .caller(.user(token.userID), credentials)
    }
}
