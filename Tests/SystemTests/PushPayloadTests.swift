import CarillonCore
import CarillonSimulator
import Foundation
import Testing

extension Services {
    /// What arrives at the three push services, to the letter.
    @Suite struct PushPayloadTests {
        /// What all three are told of the event, and how long it is worth delivering.
        private struct Expectation {
            let event: String
            let expiresAt: Timestamp
            let notificationID: String

            /// `data` of FCM and Web Push.
            var data: JSONValue {
                [
                    "eventId": .string(event), "eventType": "message.sent", "networkId": "acme",
                    "channelId": "general", "messageId": "sent", "senderId": "alice",
                    "notificationId": .string(notificationID),
                ]
            }

            /// Whether a number of seconds ends with the notification's life, or as much before as the way took.
            func isTimeToLive(_ text: String?) -> Bool {
                text.flatMap { Int($0) }.map { (86_400 - 60...86_400).contains($0) } ?? false
            }
        }

        private let scratch = Scratch()

        @Test func `an iPhone, an Android phone and a browser get what the contract says`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                let (iPhone, android, browser) = try await network.addPhonesAndBrowser(of: simulator)
                let members = ["bob", "carol", "dave"]
                _ = try await network.done(
                    try await network.accept(TestEvents.channelCreated("created", members: members))
                )
                simulator.received.removeAll()

                let event = try await network.accept(TestEvents.messageSent("sent", text: "Grüße 👋"))
                let state = try await network.done(event)
                #expect(state["deliveries"]?["delivered"]?.integer == 3)
                let receivedAt = try #require(state["receivedAt"]?.text.flatMap { Timestamp(rfc3339: $0) })
                #expect(simulator.received.total == 3)
                for (device, token, check) in [
                    ("iphone", iPhone, expectAPNs), ("android", android, expectFCM),
                    ("browser", browser.endpoint, expectWebPush),
                ] {
                    let received = simulator.accepted(for: token)
                    try #require(received.count == 1, "\(device)")
                    let id = try #require(try notificationIDs(of: [event], for: [device]).first)
                    #expect(received[0].notificationID == id)
                    let life = Duration.seconds(86_400)
                    check(received[0], Expectation(event: event, expiresAt: receivedAt + life, notificationID: id))
                }
                #expect(try await service.stop() == 0)
            }
        }

        private func expectAPNs(_ received: ReceivedNotification, _ expected: Expectation) {
            #expect(received.service == .apnsProduction)
            let headers = [
                "apns-topic": TestNetwork.app, "apns-push-type": "alert", "apns-priority": "10",
                "apns-id": expected.notificationID, "apns-collapse-id": expected.notificationID,
                // The second in which it ends is a whole one.
                "apns-expiration": "\((expected.expiresAt.milliseconds + 999) / 1000)",
            ]
            for (name, value) in headers { #expect(received.headers[name] == value, "\(name)") }
            #expect(
                received.json == [
                    "aps": [
                        "alert": ["title": "Alice (General)", "body": "Grüße 👋"], "sound": "default",
                        "thread-id": "general",
                    ],
                    "eventId": .string(expected.event), "eventType": "message.sent", "networkId": "acme",
                    "channelId": "general", "messageId": "sent", "senderId": "alice",
                ]
            )
        }

        private func expectFCM(_ received: ReceivedNotification, _ expected: Expectation) {
            #expect(received.service == .fcm)
            let life = received.json["message"]?["android"]?["ttl"]?.text
            #expect(life?.last == "s" && expected.isTimeToLive(life.map { String($0.dropLast()) }), "\(life ?? "")")
            #expect(
                received.json == [
                    "message": [
                        "token": .string(received.deviceToken),
                        "notification": ["title": "Alice (General)", "body": "Grüße 👋"],
                        "data": expected.data,
                        "android": [
                            "priority": "HIGH", "ttl": .string(life ?? ""),
                            "notification": ["tag": .string(expected.notificationID)],
                        ],
                    ]
                ]
            )
        }

        private func expectWebPush(_ received: ReceivedNotification, _ expected: Expectation) {
            #expect(received.service == .webPush)
            #expect(expected.isTimeToLive(received.headers["ttl"]), "\(received.headers["ttl"] ?? "")")
            #expect(received.headers["urgency"] == "high")
            #expect(received.headers["content-encoding"] == "aes128gcm")
            #expect(received.headers["topic"] == expected.notificationID.filter { $0 != "-" })
            #expect(
                received.json == [
                    "title": "Alice (General)", "body": "Grüße 👋", "tag": .string(expected.notificationID),
                    "data": expected.data,
                ]
            )
        }
    }
}
