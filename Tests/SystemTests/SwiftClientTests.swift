import CarillonClient
import CarillonCore
import CarillonWebhooks
import Foundation
import HTTPTypes
import NIOHTTP1
import Testing

extension Services {
    /// The Swift libraries against the service.
    @Suite struct SwiftClientTests {
        private let scratch = Scratch()

        @Test func `an app registers, sets what its user wants, and signs out`() async throws {
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            try await network.send(.PUT, "/tags/offers", ["selfService": true])
            try await network.send(.PUT, "/tags/staff", ["selfService": false])
            let appKey = try await network.send(.POST, "/api-keys", ["role": "device"])["apiKey"]?.text
            let bob = try client(of: network, on: service, appKey: appKey) { network.userToken(for: "bob") }

            let phone = CarillonClient.Registration.apns(
                token: Data(repeating: 7, count: 32),
                appID: "com.acme.chat",
                environment: .sandbox,
                locale: Locale(identifier: "th_TH")
            )
            let device = try await bob.register(phone, as: "bob's phone/1")
            #expect(device.userID == "bob" && device.state == .active && device.locale == "th-TH")
            #expect(device.environment == .sandbox && device.token == "…0707")
            #expect(try await bob.devices() == [device])
            #expect(try await bob.device("bob's phone/1") == device)
            try await network.send(.PUT, "/providers/webpush", ["subject": "mailto:ops@acme.example"])
            #expect(try await !bob.webPushKey().isEmpty)

            let notifications = bob.notifications
            #expect(try await notifications.settings().updatedAt == nil)
            try await notifications.enable([.chat: .allowed(.except(["bot"])), .social: .forbidden])
            try await notifications.enable([.chat: .allowed(.only(["moderator"])), .video: .allowed])
            let zone = try #require(TimeZone(identifier: "Asia/Bangkok"))
            let hours = CarillonClient.QuietHours(from: .init(hour: 22), to: .init(hour: 7, minute: 5), timeZone: zone)
            try await notifications.setQuietHours(hours)
            try await notifications.mute(until: .distantFuture)
            let settings = try await notifications.settings()
            #expect(settings.isEnabled && settings.quietHours == hours && settings.mutedUntil == .distantFuture)
            #expect(settings.modules[.chat] == .allowed(.only(["moderator"])))
            #expect(settings.modules[.social] == .forbidden && settings.modules[.direct] == .allowed)
            try await notifications.setQuietHours(nil)
            try await notifications.unmute()
            #expect(try await notifications.disable().isEnabled == false)
            try await notifications.reset()
            #expect(try await notifications.settings().updatedAt == nil)

            let channel = bob.channel("ปิด/general?")
            let later = Date(timeIntervalSince1970: 4_000_000_000.25)
            #expect(try await channel.mute(until: later).mutedUntil == later)
            #expect(try await channel.mentionsOnly().mentionsOnly)
            #expect(try await channel.disable().isEnabled == false)
            let open = try await channel.enable()
            #expect(open.isEnabled && !open.mentionsOnly && open.mutedUntil == later)

            try await bob.tags.subscribe(to: "offers")
            try await bob.tags.subscribe(to: "offers", onlyOn: "bob's phone/1")
            #expect(try await bob.tags.subscriptions() == ["offers"])
            #expect(try await bob.tags.subscriptions(of: "bob's phone/1") == ["offers"])
            try await bob.tags.unsubscribe(from: "offers")
            #expect(try await bob.tags.subscriptions().isEmpty)
            let staff = await #expect(throws: CarillonError.self) { try await bob.tags.subscribe(to: "staff") }
            #expect(staff?.code == .forbidden)

            try await bob.unregister("bob's phone/1", onlyFor: "alice")
            #expect(try await bob.devices().count == 1)
            try await bob.unregister("bob's phone/1")
            let gone = await #expect(throws: CarillonError.self) { try await bob.device("bob's phone/1") }
            #expect(gone?.code == .notFound)
            #expect(try await service.stop() == 0)
        }

        @Test
        func `a token that ran out is renewed, problems are the service's own, and the example runs`() async throws {
            let service = try await RunningService.start(in: scratch)
            let network = try await TestNetwork(on: service)
            let tokens = AsyncStream { continuation in
                for seconds in [-60, 600] { continuation.yield(network.userToken(for: "bob", expiresIn: seconds)) }
                continuation.finish()
            }
            let bob = try client(of: network, on: service) {
                for await token in tokens { return token }
                throw CancellationError()
            }
            #expect(try await bob.notifications.settings().isEnabled)

            let registration = CarillonClient.Registration.apns(
                token: "not hexadecimal",
                appID: "app",
                environment: .production
            )
            let error = await #expect(throws: CarillonError.self) { try await bob.register(registration, as: "d") }
            #expect(error?.status == 400 && error?.problem?.errors.map(\.pointer) == ["/token"], "\(error as Any)")
            #expect(error?.requestID?.isEmpty == false)
            let unknown = CarillonClient.Module(rawValue: "later")
            await #expect(throws: CarillonError.self) { try await bob.notifications.enable([unknown: .allowed]) }

            let text = try output(
                ofExampleWith: network.userToken(for: "bob"),
                [service.open.base, network.id, "general"]
            )
            #expect(
                text.hasPrefix("notifications: on\n") && text.hasSuffix("channel general: mentions only\n"),
                "\(text)"
            )
            #expect(try await service.stop() == 0)
        }

        @Test func `a back end registers a webhook, verifies what it gets, and signs what it posts`() async throws {
            let receiver = WebhookReceiver(answering: [])
            try await receiver.whileRunning { url in
                let service = try await RunningService.start(in: scratch)
                let network = try await TestNetwork(on: service)
                let made = try await network.send(.POST, "/providers/webhook/secret")["secret"]?.text
                let incoming = Webhook(try #require(made.flatMap(SigningSecret.init)))
                let backEnd = try client(of: network, on: service) { network.adminKey }
                let hook = try #require(URL(string: url))
                try await backEnd.register(.webhook(hook), as: "bob-server", for: "bob")

                let body = Data(TestEvents.channelCreated("first", members: ["bob"]).serialized)
                let outgoing = Webhook(try #require(network.secret.text.reveal { SigningSecret($0) }))
                let fields = outgoing.sign(body, id: "first")
                let answer = try await service.open.send(
                    .POST,
                    "/v1/networks/acme/events",
                    headers: Dictionary(uniqueKeysWithValues: fields.map { ($0.name.rawName, $0.value) }),
                    body: Array(body)
                )
                #expect(answer.status == 202, "\(answer.text)")
                let event = try #require(answer.json["id"]?.text)
                #expect(try await network.done(event)["deliveries"]?["delivered"]?.integer == 1)
                let got = try #require(receiver.requests.first)
                func verify(_ body: [UInt8]) throws {
                    try incoming.verify(body, id: got.id, timestamp: got.timestamp, signature: got.signature)
                }
                #expect(throws: Never.self) { try verify(got.body) }
                #expect(throws: WebhookError.mismatch) { try verify(got.body + [0x20]) }
                #expect(try await service.stop() == 0)
            }
        }

        /// What `Clients/Swift/Examples/NotificationSwitches` prints, for a user.
        private func output(ofExampleWith token: String, _ arguments: [String]) throws -> String {
            let example = Process()
            example.executableURL = Bundle.main.bundleURL.appending(path: "notification-switches")
            example.arguments = arguments
            example.environment = ["CARILLON_USER_TOKEN": token]
            let output = Pipe()
            example.standardOutput = output
            try example.run()
            let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            example.waitUntilExit()
            #expect(example.terminationStatus == 0, "\(text)")
            return text
        }

        private func client(
            of network: TestNetwork,
            on service: RunningService,
            appKey: String? = nil,
            token: @escaping @Sendable () async throws -> String
        ) throws -> CarillonClient {
            let url = try #require(URL(string: service.open.base))
            return CarillonClient(url: url, network: network.id, appKey: appKey, token: token)
        }
    }
}
