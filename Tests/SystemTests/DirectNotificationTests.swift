import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Testing

extension Services {
    /// Notifications that no event of the chat caused, from the request to the phone.
    @Suite struct DirectNotificationTests {
        private let scratch = Scratch()

        @Test func `everyone gets what was written, in every shape that it can have`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                let (iPhone, android, _) = try await network.addPhonesAndBrowser(of: simulator)
                let stranger = SimulatedToken.fcm()

                let alert: JSONValue = [
                    "to": ["everyone": true], "title": "Build 81", "texts": ["th": ["title": "ไทย"]],
                    "body": "3 tests", "badge": 3, "sound": "ding", "data": ["build": 81], "envelope": false,
                    "apns": ["payload": ["aps": ["mutable-content": 1], "shown": ["$text": "title"]]],
                ]
                #expect(try await network.sent(alert)["deliveries"]?["delivered"]?.integer == 3)
                #expect(
                    simulator.accepted(for: iPhone).last?.json == [
                        "aps": [
                            "alert": ["title": "Build 81", "body": "3 tests"], "badge": 3, "sound": "ding",
                            "mutable-content": 1,
                        ],
                        "build": 81, "shown": "Build 81",
                    ]
                )
                let message = simulator.accepted(for: android).last?.json["message"]
                #expect(message?["data"] == ["build": "81"])
                #expect(message?["android"]?["notification"]?["notification_count"] == 3)

                let silent: JSONValue = ["to": ["everyone": true], "kind": "silent", "data": ["sync": true]]
                let state = try await network.sent(silent)
                #expect(state["deliveries"]?["delivered"]?.integer == 2)
                #expect(state["recipients"]?["noDevice"]?.integer == 1)
                let pushed = try #require(simulator.accepted(for: iPhone).last)
                #expect(pushed.headers["apns-push-type"] == "background")
                #expect(pushed.headers["apns-priority"] == "5")
                #expect(pushed.json["aps"] == ["content-available": 1])

                let address: JSONValue = [
                    "provider": "fcm", "appId": .string(TestNetwork.app), "token": .string(stranger),
                ]
                let direct: JSONValue = ["to": ["addresses": [address]], "title": "Hello, stranger"]
                #expect(try await network.sent(direct)["deliveries"]?["delivered"]?.integer == 1)
                #expect(simulator.accepted(for: stranger).count == 1)
                // What nobody registered is no part of everyone.
                #expect(try await network.sent(alert)["deliveries"]?["delivered"]?.integer == 3)

                try await network.send(.PUT, "/tags/beta/users/bob")
                try await network.send(.PUT, "/tags/beta/devices/android")
                let tagged: JSONValue = ["to": ["tags": ["beta"]], "filter": ["providers": ["fcm"]], "title": "Beta"]
                let beta = try await network.sent(tagged)
                #expect(beta["recipients"]?["resolved"]?.integer == 2)
                #expect(beta["deliveries"]?["delivered"]?.integer == 1)

                try await network.send(.PUT, "/users/carol/notifications", ["modules": ["direct": ["enabled": false]]])
                let muted: JSONValue = ["to": ["userIds": ["bob", "carol", "nobody"]], "title": "Only bob"]
                let counts = try await network.sent(muted)["recipients"]
                #expect(counts?["notified"]?.integer == 1)
                #expect(counts?["suppressed"]?["user"]?.integer == 1)
                #expect(counts?["noDevice"]?.integer == 1)
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `what waits is withdrawn, and what was sent is not sent again`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeFCMCredential(of: simulator)
                let android = SimulatedToken.fcm()
                try await network.addAndroid("android", of: "bob", token: android)
                // Of this app there is no credential: it waits.
                try await network.addIPhone("iphone", of: "bob", token: SimulatedToken.apns())
                let posted = try await network.send(
                    .POST,
                    "/notifications",
                    ["to": ["userIds": ["bob"]], "title": "x"]
                )
                let event = try #require(posted["id"]?.text)
                try await eventually("one device being reached") {
                    try await network.count("delivered", of: event) == 1
                }
                #expect(try await network.count("pending", of: event) == 1)
                try await network.send(.DELETE, "/events/\(event)/deliveries", expecting: [204])
                let state = try await network.done(event)
                #expect(state["deliveries"]?["delivered"]?.integer == 1)
                #expect(state["deliveries"]?["expired"]?.integer == 1)
                let deliveries = try await network.send(.GET, "/events/\(event)/deliveries")["items"]?.elements ?? []
                let withdrawn = deliveries.first { $0["deviceId"]?.text == "iphone" }
                #expect(withdrawn?["reason"]?.text == "withdrawn")
                try await network.storeAPNsCredential(simulator.apnsKey)
                #expect(
                    try await network.sent(["to": ["userIds": ["bob"]], "title": "y"])["deliveries"]?["delivered"]?
                        .integer == 2
                )
                #expect(simulator.received.total == 3)
                #expect(try await service.stop() == 0)
            }
        }
    }
}

extension TestNetwork {
    /// Sends a direct notification and answers what became of it.
    fileprivate func sent(_ notification: JSONValue) async throws -> JSONValue {
        let id = try await send(.POST, "/notifications", notification, expecting: [202])["id"]?.text
        return try await done(try #require(id))
    }
}
