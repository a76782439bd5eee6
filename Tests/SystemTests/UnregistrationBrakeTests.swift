import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Testing

extension Services {
    @Suite struct UnregistrationBrakeTests {
        /// Where nothing is delivered the brake is on from the twentieth device. What was written down until then is final
        /// for its notification, but not for the device.
        private static let fewestGone = 20

        private let scratch = Scratch()

        @Test func `mass unregistration is held until somebody lets it go, and can be undone`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeAPNsCredential(simulator.apnsKey)
                let phones = iPhones(60)
                try await network.importIPhones(phones)
                for token in phones.values { simulator.removeDevice(token) }
                let begin = WallClock.system.now()

                let event = try await network.accept(TestEvents.messageSent("sent"))
                let reason = try await eventually("the brake") { () -> String? in
                    guard let lane = try await network.lane(of: "apns"), lane["circuit"]?.text == "open" else {
                        return nil
                    }
                    return lane["reason"]?.text
                }
                #expect(reason.hasPrefix("brake: "), "\(reason)")
                // The brake shows before the reports that went before it are written down.
                let believed = try await eventually("each report is written down or held") { () -> Int? in
                    let believed = try await network.count("unregistered", of: event)
                    return try await held(by: service) == phones.count - believed ? believed : nil
                }
                #expect(believed < Self.fewestGone)
                #expect(try await network.count("pending", of: event) == phones.count - believed)
                try await eventually("all devices are used again") {
                    try await devices(phones.keys, in: "active", of: network) == phones.count
                }
                let brake = try await network.lane(of: "apns")?["brake"]?["reason"]?.text
                #expect(brake == "brake: 60 of 60 devices reported as gone")

                try await network.send(.POST, "/providers/apns/apps/\(TestNetwork.app)/release")
                // Nobody waits for the end of a pause, nor for what was held to be tried again.
                let state = try await network.done(event, within: .seconds(12))
                #expect(state["deliveries"]?["unregistered"]?.integer == phones.count)
                let unregistered = phones.count - believed
                #expect(try await devices(phones.keys, in: "unregistered", of: network) == unregistered)

                let window: JSONValue = [
                    "provider": "apns", "appId": .string(TestNetwork.app), "from": .string("\(begin)"),
                    "to": .string("\(WallClock.system.now() + .seconds(1))"),
                ]
                let restored = try await network.send(.POST, "/devices/restore", window)
                #expect(restored["restored"]?.integer == unregistered)
                #expect(try await devices(phones.keys, in: "active", of: network) == phones.count)
                for token in phones.values { simulator.restoreDevice(token) }
                let next = try await network.done(try await network.accept(TestEvents.messageSent("next")))
                #expect(next["deliveries"]?["delivered"]?.integer == phones.count)
                #expect(try await service.stop() == 0)
            }
        }

        private func held(by service: RunningService) async throws -> Int {
            let metrics = try await service.management.send(.GET, "/metrics").text
            let held = metrics.firstMatch(of: /carillon_held_unregistrations_total\{provider="apns"\} ([0-9]+)/)
            return held.flatMap { Int($0.1) } ?? 0
        }

        private func devices(
            _ ids: some Sequence<String>,
            in state: String,
            of network: TestNetwork
        ) async throws -> Int {
            var count = 0
            for id in ids where try await network.send(.GET, "/devices/\(id)")["state"]?.text == state { count += 1 }
            return count
        }
    }
}
