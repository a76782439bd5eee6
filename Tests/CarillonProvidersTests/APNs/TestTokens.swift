import CarillonCore
import Crypto
import Synchronization

@testable import CarillonProviders
@testable import PushHTTP

/// Where provider tokens are shared, in memory, and the time that goes with it.
final class TestTokens: Sendable {
    private struct State {
        var now = Timestamp(milliseconds: 1_763_632_800_000)
        var stored: [String: ProviderToken] = [:]
        var requests = 0
        var failure: OutboundError?
    }

    private let state = Mutex(State())

    var clock: WallClock { WallClock { self.state.withLock { $0.now } } }
    var now: Timestamp { clock.now() }
    /// How often it was asked.
    var requests: Int { state.withLock { $0.requests } }
    var stored: [String: ProviderToken] { state.withLock { $0.stored } }

    func pass(_ time: Duration) { state.withLock { $0.now = $0.now + time } }
    func fail(_ error: OutboundError?) { state.withLock { $0.failure = error } }
    func store(_ token: ProviderToken, under key: String) { state.withLock { $0.stored[key] = token } }

    /// A credential that is valid now.
    func credential(_ key: P256.Signing.PrivateKey = P256.Signing.PrivateKey()) throws -> APNsCredential {
        let document: JSONValue = [
            "teamId": "TEAM123456", "keyId": "KEY1234567", "privateKey": .string(key.pemRepresentation),
        ]
        return try APNsCredential(reading: document, appID: "com.acme.chat", now: now)
    }

    var tokens: APNsTokenSource.Tokens {
        { key, candidate, oldest in
            await Task.yield()
            return try self.state.withLock { state in
                state.requests += 1
                if let failure = state.failure { throw failure }
                if let token = state.stored[key], token.issuedAt >= oldest, !token.isAhead(of: candidate.issuedAt) {
                    return token
                }
                state.stored[key] = candidate
                return candidate
            }
        }
    }

    func source() -> APNsTokenSource { APNsTokenSource(tokens: tokens, clock: clock) }
}
