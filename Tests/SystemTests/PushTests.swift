import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Testing

extension Services {
    /// Credentials that are missing, devices that have gone, and apps whose push service hangs.
    @Suite struct PushTests {
        private let scratch = Scratch()

        @Test func `a device waits for its app's credential, and gets its notification as soon as that is stored`()
            async throws
        {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                let token = SimulatedToken.apns()
                try await network.addIPhone("iphone", of: "bob", token: token)
                let event = try await network.accept(TestEvents.channelCreated("created", members: ["bob"]))
                let reason = try await eventually("a lane that is paused") { () -> String? in
                    guard let lane = try await network.lane(of: "apns"), lane["circuit"]?.text == "open" else {
                        return nil
                    }
                    return lane["reason"]?.text
                }
                #expect(reason.hasPrefix("no credential"), "\(reason)")
                #expect(try await network.count("pending", of: event) == 1)
                #expect(simulator.received.total == 0)

                try await network.storeAPNsCredential(simulator.apnsKey)
                // A pause that nobody ends takes 15 s.
                let state = try await network.done(event, within: .seconds(8))
                #expect(state["deliveries"]?["delivered"]?.integer == 1)
                #expect(simulator.accepted(for: token).count == 1)
                let deliveries = try await network.send(.GET, "/events/\(event)/deliveries")["items"]?.elements ?? []
                #expect(deliveries.map { $0["attempts"]?.integer } == [1], "waiting is no attempt")
                #expect(try await network.send(.GET, "/devices/iphone")["state"]?.text == "active")
                #expect(try await network.lane(of: "apns")?["circuit"]?.text ?? "closed" == "closed")
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `410 unregisters a device, unless it was registered after it had gone`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeAPNsCredential(simulator.apnsKey)
                let (gone, back) = (SimulatedToken.apns(), SimulatedToken.apns())
                simulator.removeDevice(back)
                try await network.addIPhone("gone", of: "bob", token: gone)
                try await network.addIPhone("back", of: "carol", token: back)
                simulator.removeDevice(gone)

                let event = try await network.accept(TestEvents.channelCreated("created", members: ["bob", "carol"]))
                let state = try await network.done(event)
                #expect(state["deliveries"]?["unregistered"]?.integer == 2)
                #expect(simulator.received.notifications.map(\.status) == [410, 410])
                let first = try await network.send(.GET, "/devices/gone")
                #expect(first["state"]?.text == "unregistered")
                #expect(first["error"]?.text == "Unregistered")
                #expect(try await network.send(.GET, "/devices/back")["state"]?.text == "active")

                simulator.restoreDevice(back)
                let next = try await network.done(try await network.accept(TestEvents.messageSent("sent")))
                #expect(next["deliveries"]?["delivered"]?.integer == 1)
                #expect(next["recipients"]?["noDevice"]?.integer == 1)
                #expect(simulator.accepted(for: back).count == 1)
                #expect(try await service.stop() == 0)
            }
        }

        /// Apps of one key share connections, which take what hangs and the rest as long as they are not full; a new one
        /// carries nothing else until its first request is answered. With keys of their own, not even that matters.
        @Test(arguments: [(hanging: 100, sharesKey: true), (hanging: 1_000, sharesKey: false)])
        func `an app whose requests hang delays no other lane`(hanging count: Int, sharesKey: Bool) async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                let hanging = iPhones(count, "hanging", tokenPrefix: "fa1100001")
                let working = iPhones(200, "working")
                let otherKey = sharesKey ? simulator.apnsKey : simulator.makeAPNsKey()
                try await network.storeAPNsCredential(otherKey, app: "com.example.working")
                try await network.storeFCMCredential(of: simulator)
                try await network.importIPhones(hanging, app: "com.example.hanging")
                try await network.importIPhones(working, app: "com.example.working")
                let android = SimulatedToken.fcm()
                try await network.addAndroid("android", of: "carol", token: android)
                _ = try await network.send(.PUT, "/channels/general/members/carol")

                var events = [try await network.accept(TestEvents.messageSent("sent-0"))]
                try await eventually("delivery over new connections") {
                    try await network.count("delivered", of: events[0]) == working.count + 1
                }
                try await network.storeAPNsCredential(simulator.apnsKey, app: "com.example.hanging")
                for number in 1...5 {
                    let event = try await network.accept(TestEvents.messageSent("sent-\(number)"))
                    events.append(event)
                    // The requests that hang are given up after 15 s: until then all others are through.
                    try await eventually(within: .seconds(10), "delivery beside what hangs") {
                        try await network.count("delivered", of: event) == working.count + 1
                    }
                    #expect(try await network.count("pending", of: event) == hanging.count)
                }
                #expect(simulator.accepted(for: android).count == events.count)
                let ids = try notificationIDs(of: events, for: Array(working.keys) + ["android"])
                #expect(Set(simulator.received.acceptedByID.keys) == ids)
                #expect(simulator.received.duplicates == 0)
            }
        }
    }
}
