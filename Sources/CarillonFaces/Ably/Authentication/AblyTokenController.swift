import CarillonCore
import CarillonEdge
import Crypto
import HTTPTypes
import Hummingbird

/// `GET /time` and `POST /keys/{keyName}/requestToken` (FACES E2).
struct AblyTokenController: Sendable {
    private static let longestLife = Duration.seconds(86_400)
    private static let usualLife = Duration.seconds(3_600)
    private static let clockTolerance = Duration.seconds(120)
    /// For longer than a request with this nonce could be taken for one of now.
    private static let nonceMemory = Duration.seconds(300)

    let services: Services
    let authenticator: AblyAuthenticator

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.get, "/time", as: "time") { request, _ in
            .ably([JSONValue(Int(services.clock.now().milliseconds))], to: request)
        }
        routes.on(.post, "/keys/{key}/requestToken", as: "request-token", use: requestToken)
    }

    private func requestToken(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        let name = try context.segment("key")
        let wanted = try AblyTokenRequest(try await AblyBody.object(of: request))
        guard wanted.keyName ?? name == name else { throw AblyError.body("keyName is not the one of the path") }
        let key: StoredFaceKey
        if let mac = wanted.mac {
            key = try await self.key(named: name, signing: wanted, mac)
        } else {
            let parts = (request.headers[.authorization] ?? "").split(separator: " ", maxSplits: 1)
            guard parts.count == 2, parts[0].lowercased() == "basic" else {
                throw AblyError.credentials("a request without mac needs the key: Basic")
            }
            key = try await authenticator.key(ofBasic: parts[1], context)
            guard key.key.name == name else {
                throw AblyError.credentials("the key is another one than that of the path")
            }
        }
        guard case .secret(let secret) = key.proof,
            let binding = try await services.faceLookup().binding(.ably, String(name.prefix { $0 != "." })),
            binding.networkID == key.key.networkID
        else { throw AblyError.notFound("no network has bound this application") }
        context.face.note(network: binding.networkID)
        context.caller.note(.network(binding.networkID))
        if wanted.mac != nil { try await use(wanted, of: binding.networkID) }
        return .ably(.object(try token(wanted, key, secret)), status: .created, to: request)
    }

    private func key(named name: String, signing wanted: AblyTokenRequest, _ mac: String) async throws -> StoredFaceKey
    {
        let wrong = AblyError.credentials("there is no such key, or mac is not what it makes of this request")
        guard let key = try await services.faceLookup().key(.ably, named: name), case .secret(let secret) = key.proof,
            let mac = Base64URL.decodeEither(mac)
        else { throw wrong }
        guard secret.isCode(mac, of: wanted.signedBytes(keyName: name)) else { throw wrong }
        return key
    }

    /// Lets a signed request be used once, and only about now.
    private func use(_ wanted: AblyTokenRequest, of network: NetworkID) async throws {
        let now = services.clock.now()
        guard let timestamp = wanted.timestamp, let nonce = wanted.nonce else {
            throw AblyError.body("timestamp and nonce are required")
        }
        let moment = Timestamp(milliseconds: Int64(timestamp))
        guard now - Self.clockTolerance <= moment, moment <= now + Self.clockTolerance else {
            throw AblyError.timestamp
        }
        guard nonce.utf8.count <= 256 else { throw AblyError.body("nonce must be at most 256 bytes") }
        let hash = Array(SHA256.hash(data: Array("\(timestamp)\n\(nonce)".utf8)))
        guard try await services.faceStore.useNonce(hash, until: now + Self.nonceMemory, of: network) else {
            throw AblyError.nonce
        }
    }

    private func token(_ wanted: AblyTokenRequest, _ key: StoredFaceKey, _ secret: Secret) throws(AblyError)
        -> JSONObject
    {
        let now = services.clock.now()
        let life = wanted.timeToLive.map { Duration.milliseconds($0) } ?? Self.usualLife
        guard life > .zero, life <= Self.longestLife else {
            throw .query("ttl must be at most 24 hours, in milliseconds")
        }
        var capability = AblyAuthenticator.rights(of: key)
        if let asked = wanted.capability {
            guard let asked = AblyCapability(.string(asked)) else { throw .body("capability is no capability") }
            capability = asked.cut(to: capability)
        }
        guard !capability.isEmpty else { throw .capability("the key allows nothing of what is asked for") }
        if let client = wanted.clientID, client != "*" { _ = try UserID(ablyClient: client) }
        let (issued, end) = (now.milliseconds, (now + life).milliseconds)
        let client = wanted.clientID.map(JSONValue.string)
        let claims: JSONObject = [
            "iat": JSONValue(Int(issued / 1000)),
            "exp": .number(JSONNumber(Double(end) / 1000) ?? JSONNumber(Int(end / 1000))),
            "jti": .string(Base64URL.encode(randomBytes(12))), AblyToken.Claim.capability: .string(capability.text),
            AblyToken.Claim.client: client,
        ]
        return [
            "token": .string(AblyToken.make(keyName: key.key.name, claims: claims, sign: secret.code)),
            "keyName": .string(key.key.name), "issued": JSONValue(Int(issued)), "expires": JSONValue(Int(end)),
            "capability": .string(capability.text), "clientId": client,
        ]
    }
}
