import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Finds out who calls (FACES E2).
struct AblyAuthenticator: Sendable {
    let services: Services

    /// The caller; noted, and counted unless everything is theirs.
    func caller(_ request: Request, _ context: CarillonRequestContext) async throws -> AblyCaller {
        let caller = try await identified(request, context)
        context.face.note(network: caller.network.id)
        context.caller.note(.network(caller.network.id))
        guard !caller.isAdmin else {
            try await services.authenticator.beginReading(caller.network.id, context)
            return caller
        }
        let rates = caller.network.limits.requestsPerSecond
        // A client's share is one, by however many devices or tokens they come.
        if case .named(let user) = caller.client {
            try services.rates.take(from: .user(caller.network.id, user), rate: rates.user)
        } else if let device = caller.device {
            try services.rates.take(from: .key(caller.network.id, "ably device \(device.deviceID)"), rate: rates.user)
        } else {
            try services.rates.take(from: .key(caller.network.id, caller.keyName), rate: rates.app)
        }
        return caller
    }

    private func identified(_ request: Request, _ context: CarillonRequestContext) async throws -> AblyCaller {
        let values = request.headers[values: .authorization]
        guard let value = values.first else {
            guard let token = try QueryParameters(request).text("access_token") else {
                throw AblyError.credentials("credentials are needed: a key or a token")
            }
            return try await holder(of: token)
        }
        let parts = value.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
        guard values.count == 1, parts.count == 2, parts[1].utf8.count <= 2 * SignedToken.maximumBytes else {
            throw AblyError.credentials("Authorization must be one Basic or Bearer")
        }
        switch parts[0].lowercased() {
        case "basic":
            let key = try await key(ofBasic: parts[1], context)
            return try await caller(of: key, capability: Self.rights(of: key), client: .none, holdsKey: true)
        case "bearer": return try await holder(of: String(parts[1]))
        default: throw AblyError.credentials("Authorization must be one Basic or Bearer")
        }
    }

    /// The key that a caller has sent whole.
    func key(ofBasic encoded: Substring, _ context: CarillonRequestContext) async throws -> StoredFaceKey {
        guard context.isConfidential else { throw AblyError.insecure }
        let wrong = AblyError.credentials("there is no such key")
        guard let text = Base64URL.text(encoded), let colon = text.firstIndex(of: ":"),
            let key = try await services.faceLookup().key(.ably, named: String(text[..<colon])),
            case .secret(let secret) = key.proof
        else { throw wrong }
        let sent = String(text[text.index(after: colon)...])
        guard secret.reveal(SecretHash.init(of:)).matches(sent) else { throw wrong }
        return key
    }

    /// The holder of a token: a JWT as it is, or in base64.
    private func holder(of text: String) async throws -> AblyCaller {
        guard let token = AblyToken(text) else { throw AblyError.unknownToken }
        guard !token.isOfDevice else { return try await device(token) }
        guard let key = try await services.faceLookup().key(.ably, named: token.keyName),
            case .secret(let secret) = key.proof,
            secret.isCode(token.signed.signature, of: token.signed.signedBytes)
        else { throw AblyError.unknownToken }
        let now = services.clock.now()
        guard !token.signed.hasEnded(at: now) else { throw AblyError.expiredToken }
        guard !token.isOfTheFuture(at: now) else { throw AblyError.credentials("the token is of a time yet to come") }
        var capability = Self.rights(of: key)
        if let asked = token.signed.claims[AblyToken.Claim.capability], asked != .null {
            guard let asked = AblyCapability(asked) else {
                throw AblyError.credentials("x-ably-capability is no capability")
            }
            capability = asked.cut(to: capability)
        }
        return try await caller(of: key, capability: capability, client: try client(of: token), holdsKey: false)
    }

    private func client(of token: AblyToken) throws(AblyError) -> AblyCaller.Client {
        switch token.signed.claims[AblyToken.Claim.client] {
        case nil, .null: return .none
        case "*": return .any
        case .string(let text): return .named(try UserID(ablyClient: text))
        default: throw .client
        }
    }

    /// A device that proves itself and needs nothing else for its own affairs.
    private func device(_ token: AblyToken) async throws -> AblyCaller {
        guard let binding = try await services.faceLookup().binding(.ably, token.keyName),
            let network = try await services.network(binding.networkID),
            let device = deviceToken(token, in: network.id)
        else { throw AblyError.credentials("the device's token is not valid") }
        let known = try await services.devices.device(device.deviceID, in: network.id)
        guard known.map(device.isOf) ?? true else { throw AblyError.credentials("the device's token is not valid") }
        // With the device it speaks for nobody any more; all that is left to it is to be told that the device is gone.
        let client: AblyCaller.Client =
            if let known, !known.userID.isNobody { .named(known.userID) } else { .none }
        return AblyCaller(
            network: network,
            appID: token.keyName,
            settings: AblySettings(stored: binding.settings),
            keyName: token.keyName,
            capability: device.capability,
            client: client,
            holdsKey: false,
            device: device
        )
    }

    private func caller(
        of key: StoredFaceKey,
        capability: AblyCapability,
        client: AblyCaller.Client,
        holdsKey: Bool
    ) async throws -> AblyCaller {
        let name = key.key.name
        let appID = String(name.prefix { $0 != "." })
        // Whoever has made a key of a name is not therefore whose name it is.
        guard let binding = try await services.faceLookup().binding(.ably, appID),
            binding.networkID == key.key.networkID,
            let network = try await services.network(binding.networkID)
        else { throw AblyError.notFound("no network has bound this application") }
        return AblyCaller(
            network: network,
            appID: appID,
            settings: AblySettings(stored: binding.settings),
            keyName: name,
            capability: capability,
            client: client,
            holdsKey: holdsKey,
            device: nil
        )
    }

    static func rights(of key: StoredFaceKey) -> AblyCapability {
        AblyCapability(key.key.rights) ?? AblyCapability.nothing
    }
}
