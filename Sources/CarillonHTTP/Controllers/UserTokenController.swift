import CarillonCore
import CarillonEdge
import HTTPTypes
import Hummingbird

/// Tokens of users to try things with, as a network's back end makes them (API section 2). For admins, who could add a key of their
/// own and sign with that.
struct UserTokenController: Controller {
    private static let usualLifetime = 3_600

    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        admins(router).post("/user-tokens", use: make)
    }

    private func make(_ request: NetworkRequest) async throws -> Response {
        let longest = Int(request.access.network.userTokenMaxLifetime.components.seconds)
        let body = try await request.json()
        let (user, seconds) = try body.read(as: "invalid-user-token") { reader -> (UserID, Int)? in
            let user = reader.identifier("userId", as: Person.self, required: true)
            let seconds = reader.integer("lifetimeSeconds", in: 1...longest)
            if user?.isReserved == true { reader.refuse("userId", "is reserved") }
            return user.map { ($0, seconds ?? min(Self.usualLifetime, longest)) }
        }
        let keys = try await services.accounts.userTokenKeys(of: request.network)
        let secrets = keys.compactMap { if case .hs256(let secret) = $0.key { secret } else { nil } }
        guard let secret = secrets.first else {
            throw Problem.conflict("no-shared-secret", "the network has no HS256 key to sign with: add one")
        }
        let now = services.clock.now()
        let end = now + .seconds(seconds)
        let token = UserToken.signed(for: user, in: request.network, issuedAt: now, until: end, by: secret)
        return .json(
            ["token": .string(token.reveal { $0 }), "userId": .string(user.rawValue), "expiresAt": JSONValue(end)],
            status: .created
        )
    }
}
