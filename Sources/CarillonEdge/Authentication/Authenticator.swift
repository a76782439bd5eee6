package import CarillonCore
import CarillonWebhooks
package import HTTPTypes
package import Hummingbird

/// Finds out who calls.
///
/// 401 is for credentials that prove nothing, and for none. Credentials that are valid for another network, or for none
/// that exists, are answered with 404: to their owner there is nothing here.
package struct Authenticator: Sendable {
    private enum Identity {
        case `operator`
        case caller(Access)
    }

    let operatorToken: OperatorToken
    let cache: CredentialCache
    let introspector: UserTokenIntrospector
    let rates: RequestRates
    let pages: PageSemaphore
    let clock: WallClock

    /// The caller in a network, whatever names it, by `Authorization`. Where users are not meant (`ofUsers`),
    /// nobody is asked about foreign tokens: what is sent there may be a key of Carillon's that is not known yet. Without a network the credentials say
    /// which one it is, as far as they are Carillon's own; the operator belongs to none.
    package func access(
        _ request: Request,
        _ context: CarillonRequestContext,
        in networkID: NetworkID?,
        ofUsers: Bool = true
    ) async throws -> Access {
        switch try await identity(request, context, preferring: networkID, ofUsers: ofUsers) {
        case .operator:
            guard let networkID else { throw Problem.forbidden("a credential of a network is needed") }
            guard let credentials = try await cache.credentials(of: networkID) else { throw Problem.notFound() }
            context.caller.note(Admin.operator)
            try await beginReading(nil, context)
            return Access(network: credentials.network, principal: .operator)
        case .caller(let access):
            guard access.networkID == networkID ?? access.networkID else { throw Problem.notFound() }
            if access.principal == .apiKey(.admin) {
                context.caller.note(access.admin)
                try await beginReading(access.networkID, context)
            }
            return access
        }
    }

    /// The caller, wherever they belong: an operator belongs to no network, a user to the first one that the token names.
    package func caller(
        _ request: Request,
        _ context: CarillonRequestContext
    ) async throws -> (networkID: NetworkID?, principal: Principal) {
        switch try await identity(request, context, preferring: nil) {
        case .operator: (nil, .operator)
        case .caller(let access): (access.networkID, access.principal)
        }
    }

    /// The caller in the network of the path, when it has to be an admin.
    package func admin(_ request: Request, _ context: CarillonRequestContext) async throws -> Access {
        let access = try await access(request, context, in: context.identifier("network"), ofUsers: false)
        try access.requireAdmin()
        return access
    }

    /// Passes operators; `networkID` is the network of the path, if there is one.
    package func requireOperator(
        _ request: Request,
        _ context: CarillonRequestContext,
        networkID: NetworkID? = nil
    ) async throws {
        guard
            case .caller(let access) = try await identity(request, context, preferring: networkID, ofUsers: false)
        else {
            context.caller.note(Admin.operator)
            try await beginReading(nil, context)
            return
        }
        if let networkID, access.networkID != networkID { throw Problem.notFound() }
        throw Problem.forbidden("the operator's token is needed")
    }

    /// Waits for a permit among those who read pages, if that is what the request does: one of a network's, or, without one, of the
    /// operator's own. Whoever speaks for all of a network has no rate, and so many permits instead.
    ///
    /// - Throws: 429 when there is none.
    package func beginReading(_ networkID: NetworkID?, _ context: CarillonRequestContext) async throws(Problem) {
        try await context.pageHold?.take(from: pages, for: networkID)
    }

    /// Passes a body that a network's chat backend has signed; nobody can sign for an unknown network.
    package func verify(
        _ signature: SignedBody,
        _ body: [UInt8],
        of networkID: NetworkID,
        _ context: CarillonRequestContext
    ) async throws -> Network {
        guard let credentials = try await credentials(of: networkID, context) else {
            throw Problem.unauthorized(WebhookError.mismatch.description)
        }
        do throws(Problem) {
            try credentials.verify(signature, body, now: clock.now())
        } catch {
            // Without its secret a right signature looks like a wrong one.
            throw credentials.hasUnreadableWebhookSecrets ? .wrongMasterKey : error
        }
        context.caller.note(.network(networkID))
        return credentials.network
    }

    /// What is known of a network's senders without waiting; `nil` when nothing is at the moment.
    package func rememberedSenders(of networkID: NetworkID) -> RememberedSenders? {
        cache.remembered(networkID).map { RememberedSenders(credentials: $0, now: clock.now()) }
    }

    /// A network with what it says of a dialect, be that in use or not; `nil` when it says nothing of it.
    package func sender(
        of dialect: DialectName,
        in networkID: NetworkID,
        _ context: CarillonRequestContext
    ) async throws -> (network: Network, document: DialectDocument)? {
        guard let credentials = try await credentials(of: networkID, context),
            let document = credentials.dialects[dialect]
        else { return nil }
        return (credentials.network, document)
    }

    /// The network of the path, if there is one of that id: for what is written down for its admins, whoever called.
    package func knownNetwork(_ context: CarillonRequestContext) async -> NetworkID? {
        guard let id = try? context.identifier("network", as: Network.self),
            let found = try? await credentials(of: id, context)
        else { return nil }
        return found.network.id
    }

    /// Who calls, counted against the caller's rate.
    private func identity(
        _ request: Request,
        _ context: CarillonRequestContext,
        preferring networkID: NetworkID?,
        ofUsers: Bool = true
    ) async throws -> Identity {
        let identity = try await claimedIdentity(request, context, preferring: networkID, ofUsers: ofUsers)
        switch identity {
        case .operator: context.caller.note(ProvenCaller.operator)
        case .caller(let access):
            context.caller.note(.network(access.networkID))
            try rates.take(for: access)
        }
        return identity
    }

    private func claimedIdentity(
        _ request: Request,
        _ context: CarillonRequestContext,
        preferring networkID: NetworkID?,
        ofUsers: Bool
    ) async throws -> Identity {
        guard let text = try request.headers.bearerToken() else {
            throw Problem.unauthorized(
                SignedBody.isMeant(by: request.headers)
                    ? "neither Authorization nor webhook-signature is there" : "Authorization is missing"
            )
        }
        if operatorToken.matches(text) { return .operator }
        if text.hasPrefix(APIKeySecret.prefix) {
            guard let key = APIKeySecret(text), let credentials = try await cache.credentials(holding: key),
                let role = credentials.role(of: key)
            else { throw Problem.unauthorized("the API key is not valid") }
            return .caller(Access(network: credentials.network, principal: .apiKey(role), keyID: key.id))
        }
        guard let token = UserToken(text) else {
            guard ofUsers else {
                throw UserTokenClaims(text).isToken ? refusal(of: text, in: networkID) : Self.invalidToken
            }
            return .caller(try await foreignAccess(text, context, in: networkID))
        }
        guard token.isCurrent(at: clock.now()) else { throw refusal(of: text, in: networkID) }
        let isMeantHere = networkID.map { token.networks.contains($0) } ?? false
        guard let audience = isMeantHere ? networkID : token.networks.first,
            let credentials = try await credentials(of: audience, context)
        else { throw refusal(of: text, in: networkID) }
        guard credentials.verifies(token) else {
            throw credentials.hasUnreadableUserTokenKeys ? Problem.wrongMasterKey : refusal(of: text, in: networkID)
        }
        let longest = credentials.network.userTokenMaxLifetime
        guard token.lives(atMost: longest, at: clock.now()) else {
            throw Problem.unauthorized("the token may live for \(longest.components.seconds) seconds at most")
        }
        return .caller(Access(network: credentials.network, principal: .user(token.userID)))
    }

    /// The user of a token that is none of ours, where the network says whom to ask about it (FACES section F1).
    private func foreignAccess(
        _ token: String,
        _ context: CarillonRequestContext,
        in networkID: NetworkID?
    ) async throws -> Access {
        guard let networkID, let network = try await credentials(of: networkID, context)?.network,
            let introspection = network.introspection
        else { throw refusal(of: token, in: networkID) }
        let user = try await introspector.user(
            of: token,
            by: introspection,
            in: networkID,
            from: context.clientAddress?.subscriber,
            isSuspect: context.isSuspect
        )
        guard let user else { throw Self.invalidToken }
        return Access(network: network, principal: .user(user))
    }

    private static let invalidToken = Problem.unauthorized("the token is not valid")

    /// Why a user token is refused, as its bearer may know: all that is said stands in the token or in the path. Whether there is such a network
    /// is not said.
    private func refusal(of token: String, in networkID: NetworkID?) -> Problem {
        .unauthorized(
            UserTokenClaims(token).mistake(in: networkID, at: clock.now())
                ?? "the signature is not that of a key of this network"
        )
    }

    /// A network's credentials; of networks that may not even be there nothing is read for addresses that prove nothing.
    /// What an API key names needs no such care: keys are looked for many at a time, and remembered when there is none.
    private func credentials(
        of networkID: NetworkID,
        _ context: CarillonRequestContext
    ) async throws -> VerifiableCredentials? {
        guard !context.isSuspect || cache.knows(networkID) else {
            throw Problem.tooManyRequests(retryAfter: .seconds(1))
        }
        return try await cache.credentials(of: networkID)
    }
}

extension HTTPFields {
    /// The token of `Authorization: Bearer …` (RFC 6750 section 2.1); `nil` when there is no `Authorization` at all.
    ///
    /// - Throws: 401 for another scheme and for more than one header.
    package func bearerToken() throws(Problem) -> String? {
        let values = self[values: .authorization]
        guard let value = values.first else { return nil }
        let parts = value.split(separator: " ")
        guard values.count == 1, parts.count == 2, parts[0].lowercased() == "bearer",
            parts[1].utf8.count <= SignedToken.maximumBytes
        else { throw .unauthorized("Authorization must be one bearer token") }
        return String(parts[1])
    }
}

extension RequestRates {
    /// Counts a request of a user or of an app's key. Admins, backends and the operator have no rate.
    ///
    /// - Throws: 429 when it is too much.
    fileprivate func take(for access: Access) throws(Problem) {
        let rates = access.network.limits.requestsPerSecond
        switch (access.principal, access.keyID) {
        case (.user(let user), _): try take(from: .user(access.networkID, user), rate: rates.user)
        case (.apiKey(.device), let keyID?): try take(from: .key(access.networkID, keyID), rate: rates.app)
        default: break
        }
    }

    /// Counts a request whose proof is none, where that is not told by 401.
    ///
    /// - Throws: 429 when they are too many.
    package func takeRefusal(of context: CarillonRequestContext) throws(Problem) {
        guard let address = context.clientAddress else { return }
        try take(from: .address(address.subscriber), rate: Self.unauthorizedPerSecond)
    }
}
