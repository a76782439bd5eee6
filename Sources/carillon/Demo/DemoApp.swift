import CarillonClient
import CarillonCore
import Foundation
import HTTPTypes
import JWTKit

/// The app on somebody's phone: signed in by the chat backend, and otherwise on its own.
enum DemoApp {
    /// What the chat backend signs for whoever signs in.
    private struct Claims: JWTPayload {
        let sub: SubjectClaim
        let aud: AudienceClaim
        let exp: ExpirationClaim

        func verify(using algorithm: some JWTAlgorithm) throws {
            try exp.verifyNotExpired()
        }
    }

    private static let tokenLifetime: TimeInterval = 600

    /// A client of the service, as an app has one.
    /// - Parameters:
    ///   - user: Who is signed in.
    ///   - network: Where.
    ///   - base: Where the service is.
    ///   - terminal: Where calls are shown.
    /// - Returns: The client.
    /// - Throws: When the service's address is none.
    static func client(
        of user: String,
        in network: DemoClient.Network,
        at base: String,
        _ terminal: Terminal
    ) throws -> CarillonClient {
        guard let url = URL(string: base) else { throw StartError("\(base) is no URL") }
        let transport = ShownTransport(user: user, base: base, terminal: terminal)
        return CarillonClient(url: url, network: network.id, transport: transport) {
            try await token(for: user, in: network)
        }
    }

    private static func token(for user: String, in network: DemoClient.Network) async throws -> String {
        let secret = network.userTokenSecret.reveal { HMACKey(from: $0) }
        let keys = await JWTKeyCollection().add(hmac: secret, digestAlgorithm: .sha256)
        let claims = Claims(
            sub: SubjectClaim(value: user),
            aud: AudienceClaim(value: ["carillon:\(network.id)"]),
            exp: ExpirationClaim(value: Date(timeIntervalSinceNow: tokenLifetime))
        )
        return try await keys.sign(claims)
    }
}

/// Shows each call in short as a `curl` line, and makes it.
private struct ShownTransport: CarillonClient.Transport {
    let user: String
    let base: String
    let terminal: Terminal
    private let transport = CarillonClient.URLSessionTransport()

    init(user: String, base: String, terminal: Terminal) {
        self.user = user
        self.base = base
        self.terminal = terminal
    }

    func send(
        _ request: HTTPRequest,
        body: Data?,
        timeout: Duration
    ) async throws -> (response: HTTPResponse, body: Data) {
        terminal.curl(
            request.method.rawValue,
            base + (request.path ?? ""),
            ["authorization: Bearer $\(user.uppercased())S_TOKEN"],
            try body.map { try JSONValue(parsing: Array($0)).shortened }
        )
        return try await transport.send(request, body: body, timeout: timeout)
    }
}

extension JSONValue {
    private static let longestString = 40

    /// The same with tokens and keys cut off.
    fileprivate var shortened: JSONValue {
        switch self {
        case .string(let text) where text.count > Self.longestString: .string("\(text.prefix(8))…")
        case .array(let elements): .array(elements.map(\.shortened))
        case .object(let object):
            .object(object.members.reduce(into: JSONObject()) { $0[$1.0] = $1.1.shortened })
        default: self
        }
    }
}
