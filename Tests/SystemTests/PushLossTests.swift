import CarillonCore
import CarillonSimulator
import Foundation
import Testing

extension Services {
    @Suite struct PushLossTests {
        private static let streams = 50
        private static let streamsPerConnection = 1_000

        @Test func `nothing is lost when a push service keeps closing its connections`() async throws {
            let scratch = Scratch()
            var configuration = SimulatorConfiguration()
            configuration.maximumConcurrentStreams = Self.streams
            configuration.disturbances.goAwayAfterStreams = Self.streamsPerConnection
            try await withSimulator(configuration) { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeAPNsCredential(simulator.apnsKey)
                let phones = iPhones(10_000)
                try await network.importIPhones(phones)
                let event = try await network.accept(TestEvents.messageSent("sent"))
                // What is tried a third time has waited for 6 s.
                let state = try await network.done(event, within: .seconds(60))
                #expect(state["deliveries"]?["delivered"]?.integer == phones.count)
                let accepted = simulator.received.acceptedByID
                let expected = try notificationIDs(of: [event], for: phones.keys)
                let lost = expected.subtracting(accepted.keys)
                let duplicates = simulator.received.duplicates
                print(
                    """
                    GOAWAY after every \(Self.streamsPerConnection) streams: \(expected.count) notifications to APNs, \
                    \(lost.count) lost, \(duplicates) duplicated with the same id
                    """
                )
                #expect(lost.isEmpty)
                #expect(accepted.count == expected.count, "every copy has the id of the first")
                // Only what was on its way when its connection ended can have been sent again in vain.
                let connections = simulator.received.total / Self.streamsPerConnection + 4
                #expect(duplicates <= connections * Self.streams)
                #expect(try await service.stop() == 0)
            }
        }
    }
}

// It compares times, unlike other crashes.
extension Services {
    @Suite struct PushCrashTests {
        /// Promise P3: 250 ms until outcomes are handed to the database, and what a busy machine takes to write them.
        private static let longestUnsettled = Duration.seconds(1)

        /// Promises P2, P3 and P6: what a killed process had leased is claimed when its leases run out.
        @Test func `nothing is lost when the service is killed while it sends to APNs`() async throws {
            let scratch = Scratch()
            var configuration = SimulatorConfiguration()
            // Slow enough to be killed in the middle.
            configuration.maximumConcurrentStreams = 50
            configuration.disturbances.delay = .milliseconds(100)
            try await withSimulator(configuration) { simulator in
                let first = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: first)
                try await network.storeAPNsCredential(simulator.apnsKey)
                let phones = iPhones(4_000)
                try await network.importIPhones(phones)
                let event = try await network.accept(TestEvents.messageSent("sent"))
                let expected = try notificationIDs(of: [event], for: phones.keys)
                try await simulator.received.wait(for: expected.count / 2, acceptedOnly: true, timeout: .seconds(60))
                let killedAt = Duration.seconds(Date().timeIntervalSince1970)
                first.program.send(SIGKILL)
                #expect(try await first.program.exitStatus() == -SIGKILL)
                let before = simulator.received.accepted
                try #require(before < expected.count, "it was killed in the middle")

                try await scratch.ownServer.endLeases()
                let second = try await RunningService.start(in: scratch, environment: simulator.environment)
                let state = try await network.on(second).done(event, within: Crashes.patience)
                #expect(state["deliveries"]?["delivered"]?.integer == phones.count)
                let accepted = simulator.received.acceptedByID
                let lost = expected.subtracting(accepted.keys)
                let unsettled = unsettled(simulator.received, at: killedAt)
                print(
                    """
                    kill -9 while sending to APNs: \(expected.count) notifications (\(before) accepted before), \
                    \(lost.count) lost, \(simulator.received.duplicates) duplicated with the same id, \
                    the oldest from \(Int(unsettled / .milliseconds(1))) ms before
                    """
                )
                #expect(lost.isEmpty)
                #expect(accepted.count == expected.count, "every copy has the id of the first")
                #expect(accepted.values.allSatisfy { $0 <= 2 })
                #expect(unsettled <= Self.longestUnsettled)
                #expect(try await second.stop() == 0)
            }
        }

        /// How long before a moment the oldest notification was accepted that was accepted again afterwards.
        private func unsettled(_ received: ReceivedNotifications, at moment: Duration) -> Duration {
            let copies = received.acceptedByID.filter { $0.value > 1 }
            var ages: [String: Duration] = [:]
            for notification in received.notifications where notification.isAccepted {
                guard let id = notification.notificationID, copies[id] != nil, ages[id] == nil else { continue }
                ages[id] = moment - notification.receivedAt
            }
            return max(.zero, ages.values.max() ?? .zero)
        }
    }
}
