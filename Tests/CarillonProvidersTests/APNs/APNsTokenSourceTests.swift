import CarillonCore
import Crypto
import Foundation
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct APNsTokenSourceTests {
    private let shared = TestTokens()
    private let privateKey = P256.Signing.PrivateKey()

    private func key() throws -> APNsSigningKey {
        try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", pem: privateKey.pemRepresentation)
    }

    @Test func `signs by ES256, with key, team and time`() throws {
        let token = try key().token(at: shared.now)
        let parts = token.value.split(separator: ".").map(String.init)
        func decode(_ text: String) throws -> Data {
            let base64 = text.replacing("-", with: "+").replacing("_", with: "/")
            return try #require(Data(base64Encoded: base64 + String(repeating: "=", count: (4 - base64.count % 4) % 4)))
        }
        #expect(parts.count == 3)
        #expect(try decode(parts[0]) == Data(#"{"alg":"ES256","kid":"KEY1234567"}"#.utf8))
        #expect(try decode(parts[1]) == Data(#"{"iss":"TEAM123456","iat":1763632800}"#.utf8))
        let signature = try P256.Signing.ECDSASignature(rawRepresentation: decode(parts[2]))
        #expect(privateKey.publicKey.isValidSignature(signature, for: Data((parts[0] + "." + parts[1]).utf8)))
        #expect(token.issuedAt == shared.now)
        #expect(!"\(token)".contains(parts[2]) && !String(reflecting: token).contains(parts[2]))
    }

    @Test func `those who ask at the same time share one renewal`() async throws {
        let source = shared.source()
        let key = try key()
        let values = try await withThrowingTaskGroup(of: String.self) { tasks in
            for _ in 0..<100 { tasks.addTask { try await source.token(for: key).value } }
            return try await tasks.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(values.count == 1)
        #expect(shared.requests == 1)
    }

    @Test func `one who gives up does not wait, and does not spoil it for the others`() async throws {
        let answer = Gate()
        let asked = Gate()
        let source = APNsTokenSource(
            tokens: { _, candidate, _ in
                asked.knock()
                await answer.wait()
                try Task.checkCancellation()
                return candidate
            },
            clock: shared.clock
        )
        let key = try key()
        let first = Task { try await source.token(for: key) }
        await asked.wait()
        let second = Task { try await source.token(for: key) }
        first.cancel()
        // At once, although there is no answer yet.
        await #expect(throws: CancellationError.self) { try await first.value }
        answer.knock()
        let token = try await second.value
        #expect(try await source.token(for: key) == token)
    }

    @Test func `is used for 45 minutes, and then replaced`() async throws {
        let source = shared.source()
        let key = try key()
        let first = try await source.token(for: key)
        shared.pass(.seconds(45 * 60))
        #expect(try await source.token(for: key) == first)
        #expect(shared.requests == 1)
        shared.pass(.milliseconds(1))
        let second = try await source.token(for: key)
        #expect(second.issuedAt == shared.now)
        #expect(second != first)
    }

    @Test func `replicas and restarts make one token together`() async throws {
        let key = try key()
        var tokens: Set<ProviderToken> = []
        for _ in 0..<50 {
            tokens.insert(try await shared.source().token(for: key))
            shared.pass(.seconds(20))
        }
        #expect(tokens.count == 1)
    }

    @Test func `an old one is used for as long as it is taken when there is no new one`() async throws {
        let source = shared.source()
        let key = try key()
        let first = try await source.token(for: key)
        shared.fail(.timedOut)
        shared.pass(.seconds(58 * 60))
        #expect(try await source.token(for: key) == first)
        shared.pass(.seconds(60))
        await #expect(throws: OutboundError.timedOut) { try await source.token(for: key) }
        shared.fail(nil)
        #expect(try await source.token(for: key).issuedAt == shared.now)
    }

    @Test func `one that a wrong clock has made is replaced as soon as the clock is right`() async throws {
        let source = shared.source()
        let key = try key()
        shared.pass(.seconds(60 * 60))
        let early = try await source.token(for: key)
        shared.pass(.seconds(-60 * 60))
        let token = try await source.token(for: key)
        #expect(token.issuedAt == shared.now)
        #expect(try await shared.source().token(for: key) == token)
        #expect(try await source.token(for: key, insteadOf: early) == token)
        // Clocks of replicas may be a little apart.
        shared.pass(.seconds(-60))
        #expect(try await source.token(for: key) == token)
        shared.store(early, under: key.name)
        shared.fail(.timedOut)
        shared.pass(.milliseconds(-1))
        await #expect(throws: OutboundError.timedOut) { try await source.token(for: key) }
    }

    @Test func `a token that Apple takes for expired is replaced once, if it is old enough`() async throws {
        let source = shared.source()
        let key = try key()
        let first = try await source.token(for: key)
        shared.pass(.seconds(20 * 60 - 1))
        #expect(try await source.token(for: key, insteadOf: first) == nil)
        shared.pass(.seconds(1))
        let replacements = try await withThrowingTaskGroup(of: ProviderToken?.self) { tasks in
            for _ in 0..<500 { tasks.addTask { try await source.token(for: key, insteadOf: first) } }
            return try await tasks.reduce(into: Set<ProviderToken?>()) { $0.insert($1) }
        }
        let second = try #require(replacements.first ?? nil)
        #expect(replacements == [second])
        #expect(second.issuedAt == shared.now)
        #expect(shared.requests == 2)
        #expect(try await source.token(for: key, insteadOf: second) == nil)
    }

    @Test func `takes the token that another replica has made meanwhile`() async throws {
        let source = shared.source()
        let key = try key()
        let first = try await source.token(for: key)
        shared.pass(.seconds(30 * 60))
        let theirs = ProviderToken(value: "theirs", issuedAt: shared.now - .seconds(60))
        shared.store(theirs, under: key.name)
        #expect(try await source.token(for: key, insteadOf: first) == theirs)
    }

    @Test func `makes no new one for 20 minutes when Apple says that there were too many`() async throws {
        let source = shared.source()
        let key = try key()
        let first = try await source.token(for: key)
        shared.pass(.seconds(40 * 60))
        source.pauseRenewal(of: key)
        shared.pass(.seconds(10 * 60))
        #expect(try await source.token(for: key) == first)
        #expect(try await source.token(for: key, insteadOf: first) == nil)
        #expect(shared.requests == 1)
        shared.pass(.seconds(10 * 60))
        #expect(try await source.token(for: key).issuedAt == shared.now)
    }

    @Test func `keys do not share tokens, whatever they are called`() async throws {
        let source = shared.source()
        let pem = P256.Signing.PrivateKey().pemRepresentation
        let pretender = try APNsSigningKey(teamID: "TEAM123456", keyID: "KEY1234567", pem: pem)
        #expect(try await source.token(for: key()) != source.token(for: pretender))
        #expect(shared.stored.count == 2)
    }
}
