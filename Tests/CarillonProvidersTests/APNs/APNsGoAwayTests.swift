import CarillonCore
import CarillonSimulator
import NIOSSL
import Testing

@testable import CarillonProviders
@testable import PushHTTP

/// A whole provider against the simulated service.
@Suite(.timeLimit(.minutes(2))) struct APNsGoAwayTests {
    private let shared = TestTokens()

    private func withSimulator(
        _ change: (inout SimulatorConfiguration) -> Void,
        _ body: (Simulator, APNsProvider) async throws -> Void
    ) async throws {
        var configuration = SimulatorConfiguration()
        change(&configuration)
        try await Simulator.withSimulator(configuration) { simulator in
            try await body(simulator, try provider(for: simulator))
        }
    }

    private func provider(for simulator: Simulator) throws -> APNsProvider {
        var tls = TLSConfiguration.outbound()
        tls.additionalTrustRoots = [.file(simulator.certificateAuthorityFile)]
        let key = simulator.apnsKey
        let document: JSONValue = [
            "teamId": .string(key.teamID), "keyId": .string(key.keyID), "privateKey": .string(key.privateKeyPEM),
        ]
        let credential = try APNsCredential(reading: document, appID: "com.acme.chat", now: WallClock.system.now())
        var services = APNsProvider.Services()
        services.production = simulator.urls.apnsProduction
        return APNsProvider(
            connections: try APNsConnections(tls: tls),
            credentials: RememberedCredentials { _, _ in credential },
            tokens: APNsTokenSource(tokens: shared.tokens, clock: .system),
            services: services,
            timeout: .seconds(60)
        )
    }

    private func groups(_ count: Int, of size: Int) -> [DeliveryGroup] {
        (0..<count).map { number in
            var group = DeliveryGroup.example(
                to: (0..<size).map { _ in
                    .apns(token: SimulatedToken.apns(), appID: "com.acme.chat", environment: .production)
                }
            )
            for index in group.targets.indices {
                group.targets[index].deviceID = DeviceID(trusted: "d-\(number)-\(index)")
            }
            return group
        }
    }

    @Test func `everybody gets one notification when connections are sent away among 2,000 requests`() async throws {
        try await withSimulator {
            $0.disturbances.goAwayAfterStreams = 150
            $0.maximumConcurrentStreams = 100
        } _: { simulator, provider in
            let outcomes = await withTaskGroup(of: [Outcome?].self) { tasks in
                for group in groups(4, of: 500) { tasks.addTask { await provider.outcomes(of: group) } }
                return await tasks.reduce(into: []) { $0 += $1 }
            }
            let failures = outcomes.filter { if case .delivered = $0 { false } else { true } }
            #expect(failures == [])
            #expect(simulator.received.acceptedByID.count == 2_000)
            #expect(simulator.received.duplicates == 0)
        }
    }
}
