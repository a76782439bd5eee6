import CarillonCore
import CarillonEdge
import Foundation
import HTTPTypes
import Hummingbird

/// Hands back ends their access tokens (RFC 6749 section 4.4), as MobileFirst's authorization server does.
struct MobileFirstTokenController: Sendable {
    static let path = "/mfp/api/az/v1/token"
    private static let maximumBytes = 16 * 1_024

    let services: Services

    func addRoutes(to routes: FaceRoutes) {
        routes.on(.post, RouterPath(Self.path), as: "token", use: token)
    }

    private func token(_ request: Request, _ context: CarillonRequestContext) async throws -> Response {
        try ContentType.check(request.headers, accepted: ["application/x-www-form-urlencoded"])
        let form = try await form(of: request)
        let stored = try await client(request)
        context.face.note(network: stored.key.networkID)
        context.caller.note(.network(stored.key.networkID))
        guard form["grant_type"] == "client_credentials" else {
            throw Problem("unsupported_grant_type", .badRequest, "grant_type must be client_credentials")
        }
        let held = MobileFirstRights(stored.key.rights).ofTokens
        let wanted = MobileFirstRights(trusted: (form["scope"] ?? "").split(separator: " ").map(String.init))
        guard wanted.scopes.allSatisfy(held.covers) else {
            throw Problem("invalid_scope", .badRequest, "the client does not have all of these scopes")
        }
        let rights = wanted.scopes.isEmpty ? held : wanted
        guard !rights.scopes.isEmpty else {
            throw Problem("invalid_scope", .badRequest, "the client has no scopes for tokens")
        }
        let now = services.clock.now()
        return .json([
            "access_token": .string(MobileFirstGrant(stored, rights).token(services.faceSecret, at: now)),
            "token_type": "Bearer",
            "expires_in": JSONValue(Int(MobileFirstGrant.lifetime.components.seconds)),
            "scope": .string(rights.scopes.sorted().joined(separator: " ")),
        ])
    }

    private func client(_ request: Request) async throws -> StoredFaceKey {
        guard let (id, secret) = Self.basic(request.headers[.authorization]),
            let stored = try await services.faceLookup().key(.imfpush, secret: secret),
            // The secret alone decides; a wrong id beside it is a mistake, not a guess.
            stored.key.name == id
        else {
            throw Problem(
                "invalid_client",
                .unauthorized,
                "the client id or its secret is not valid",
                headers: [.wwwAuthenticate: #"Basic realm="imfpush""#]
            )
        }
        return stored
    }

    private static func basic(_ header: String?) -> (id: String, secret: String)? {
        guard let parts = header?.split(separator: " ", maxSplits: 1), parts.count == 2,
            parts[0].lowercased() == "basic", let data = Data(base64Encoded: String(parts[1])),
            let text = String(boundingMarksOf: data), let colon = text.firstIndex(of: ":")
        else { return nil }
        return (String(text[..<colon]), String(text[text.index(after: colon)...]))
    }

    /// The members of a form; of one that is given twice, none.
    private func form(of request: Request) async throws -> [String: String] {
        let bytes = try await RequestBodyReader.bytes(of: request, upTo: Self.maximumBytes)
        // What is no UTF-8 is no reason to refuse what is.
        let fields = PercentEncoding.fields(of: Array(String(decoding: bytes, as: UTF8.self).utf8))
        guard let fields, Set(fields.map(\.name)).count == fields.count else {
            throw Problem("invalid_request", .badRequest, "the form cannot be read")
        }
        return Dictionary(uniqueKeysWithValues: fields.map { ($0.name, $0.value) })
    }
}
