import CarillonTesting
import CarillonCore
import Crypto
import NIOHPACK
import NIOSSL
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTP
@testable import PushHTTPTests

/// Apps of one key, environments of one app, and a credential that goes away: none holds up what is not concerned.
@Suite(.timeLimit(.minutes(2))) struct APNsNeighbourTests {
    private static let app = "com.acme.chat"
    private static let refusal = #"{"reason":"BadEnvironmentKeyIdInToken"}"#
    private let authority = TestAuthority()
    private let shared = TestTokens()
    private let key = P256.Signing.PrivateKey()

    private func provider(
        _ port: Int,
        _ credentials: RememberedCredentials<APNsCredential>? = nil,
        concurrency: Int = 200,
        proofPatience: Duration = ConnectionPolicy.lasting.proofPatience
    ) throws -> APNsProvider {
        var tls = TLSConfiguration.outbound()
        tls.additionalTrustRoots = [.certificates([try authority.certificate()])]
        var services = APNsProvider.Services()
        services.production = "https://production.push.test:\(port)/production"
        services.sandbox = "https://sandbox.push.test:\(port)/sandbox"
        var policy = ConnectionPolicy.lasting
        policy.proofPatience = proofPatience
        let credential = try shared.credential(key)
        return APNsProvider(
            connections: try APNsConnections(
                tls: tls,
                policy: policy,
                resolver: NameResolver { _ in [.v4(0x7F00_0001)] }
            ),
            credentials: credentials ?? RememberedCredentials { _, _ in credential },
            tokens: shared.source(),
            services: services,
            clock: shared.clock,
            timeout: .seconds(60),
            concurrency: concurrency
        )
    }

    private func server(
        maximumStreams: Int = 1_000,
        _ respond: @escaping @Sendable (HTTP2Server.Request) -> [HTTP2Server.Action],
        _ body: (HTTP2Server, Int) async throws -> Void
    ) async throws {
        let tls = try authority.serverConfiguration(for: .name("*.push.test"))
        try await HTTP2Server.answering(tls: tls, maximumStreams: maximumStreams, respond, during: body)
    }

    private func group(
        of count: Int = 1,
        app: String = app,
        environment: DeviceAddress.APNsEnvironment = .production
    ) -> DeliveryGroup {
        var group = DeliveryGroup.example(
            to: (0..<count).map { .apns(token: "00\($0)", appID: app, environment: environment) }
        )
        group.lane.appID = app
        return group
    }

    // MARK: Apps of one key

    @Test func `an app that is never answered does not hold up another one of its key`() async throws {
        try await server(maximumStreams: 1) {
            $0.headers.first(name: "apns-topic") == "com.acme.hung" ? [.hold] : [.ok]
        } _: { server, port in
            let provider = try provider(port)
            let hung = group(of: 50, app: "com.acme.hung")
            async let late = provider.outcomes(of: hung)
            await server.nextRequests(1)
            // As APNs does when it has seen a valid token.
            server.limit(to: 100)
            #expect(await provider.outcomes(of: group(of: 20)) == Array(repeating: .delivered(id: nil), count: 20))
            #expect(server.connectionCount == 1)
            await server.nextRequests(49 + 20)
            server.answerHeld()
            let outcomes = await late
            #expect(outcomes == Array(repeating: .delivered(id: nil), count: 50))
        }
    }

    @Test func `nor does it where the service says nothing until it answers`() async throws {
        try await server {
            $0.headers.first(name: "apns-topic") == "com.acme.hung" ? [.hold] : [.ok]
        } _: { server, port in
            let provider = try provider(port)
            let hung = group(of: 50, app: "com.acme.hung")
            async let late = provider.outcomes(of: hung)
            await server.nextRequests(1)
            #expect(await provider.outcomes(of: group(of: 20)) == Array(repeating: .delivered(id: nil), count: 20))
            #expect(server.connectionCount > 1)
            try await waitUntil { server.requests.count >= 70 }
            server.answerHeld()
            let outcomes = await late
            #expect(outcomes == Array(repeating: .delivered(id: nil), count: 50))
        }
    }

    // MARK: Topics

    private static func refuse(_ reason: String) -> [HTTP2Server.Action] {
        [.answer(400, body: #"{"reason":"\#(reason)"}"#)]
    }

    @Test(arguments: ["TopicDisallowed", "BadTopic"])
    func `a device whose token is for another topic stops nobody else, and is set aside`(reason: String) async throws {
        try await server({ $0.path.hasSuffix("/000") ? Self.refuse(reason) : [.ok] }) { server, port in
            let provider = try provider(port, concurrency: 1)
            let others = Array(repeating: Outcome.delivered(id: nil), count: 10)
            for refused in [Outcome.retry(after: .seconds(60), reason: reason), .quarantine(reason: reason)] {
                #expect(await provider.outcomes(of: group(of: 11)) == [refused] + others)
            }
        }
    }

    @Test func `a topic that no device is allowed stops the app after ten of them`() async throws {
        try await server({ _ in Self.refuse("TopicDisallowed") }) { server, port in
            let outcomes = try await provider(port, concurrency: 1).outcomes(of: group(of: 50))
            let unclear = Array(repeating: Outcome.retry(after: .seconds(60), reason: "TopicDisallowed"), count: 9)
            let rest = Array(repeating: Outcome.misconfigured(reason: "400 TopicDisallowed"), count: 41)
            #expect(outcomes == unclear + rest)
            #expect(server.requests.count == 10)
        }
    }

    @Test(arguments: ["BadDeviceToken", "BadTopic", "DeviceTokenNotForTopic", "TopicDisallowed"])
    func `a topic that somebody asked for stops nobody, and sets no device aside`(reason: String) async throws {
        try await server {
            $0.headers.first(name: "apns-topic") == Self.app ? [.ok] : Self.refuse(reason)
        } _: { server, port in
            let provider = try provider(port, concurrency: 1)
            var calls = group(of: 12)
            let part = RawPart(headers: ["apns-topic": "\(Self.app).voip"])
            calls.sent.push.content = PushContent(parts: [.apns: part])
            let refused = Array(repeating: Outcome.unsendable(reason: reason), count: 12)
            #expect(await provider.outcomes(of: calls) == refused)
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
            #expect(server.requests.count == 13)
        }
    }

    // MARK: Environments

    @Test
    func `a key that is not for an environment costs its devices one request, and the lane goes on`() async throws {
        try await server { request in
            request.path.hasPrefix("/sandbox") ? [.answer(403, body: Self.refusal)] : [.ok]
        } _: { server, port in
            let provider = try provider(port, proofPatience: .seconds(3_600))
            let wait = Outcome.retry(after: .seconds(900), reason: "BadEnvironmentKeyIdInToken")
            let outcomes = await provider.outcomes(of: group(of: 500, environment: .sandbox))
            #expect(outcomes == Array(repeating: wait, count: 500))
            #expect(server.requests.count == 1)
            #expect(await provider.outcomes(of: group()) == [.delivered(id: nil)])
        }
    }

    @Test
    func `those of one environment do not wait for those of the other, for which the key is not good`() async throws {
        try await server({ request in request.path.hasPrefix("/sandbox") ? [.hold] : [.ok] }) { server, port in
            let provider = try provider(port, concurrency: 20, proofPatience: .seconds(3_600))
            let sandbox = group(of: 100, environment: .sandbox)
            async let refused = provider.outcomes(of: sandbox)
            await server.nextRequests(1)
            #expect(await provider.outcomes(of: group(of: 50)) == Array(repeating: .delivered(id: nil), count: 50))
            server.answerHeld(403, body: Self.refusal)
            let wait = Outcome.retry(after: .seconds(900), reason: "BadEnvironmentKeyIdInToken")
            let outcomes = await refused
            #expect(outcomes == Array(repeating: wait, count: 100))
        }
    }

    // MARK: Credentials that go away

    @Test func `sends nothing more once the credential has been deleted`() async throws {
        let stored = Mutex<APNsCredential?>(try shared.credential(key))
        let remembered = RememberedCredentials<APNsCredential> { _, _ in stored.withLock { $0 } }
        try await server({ _ in [.hold] }) { server, port in
            let provider = try provider(port, remembered)
            let group = group(of: 50)
            async let outcomes = provider.outcomes(of: group)
            await server.nextRequests(1)
            stored.withLock { $0 = nil }
            remembered.forget(in: group.lane.networkID)
            server.answerHeld()
            let first = await outcomes
            #expect(first.compactMap(\.self) == [.delivered(id: nil)])
            #expect(server.requests.count == 1)
            let none = Outcome.deferLane(after: nil, reason: "no credential for \(Self.app)")
            #expect(await provider.outcomes(of: group).allSatisfy { $0 == none })
        }
    }
}
