import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Testing

extension Services {
    /// A homeserver's notifications, from its request to the phone.
    @Suite struct MatrixTests {
        private static let path = "/_matrix/push/v1/notify"
        private let scratch = Scratch()

        private func notify(
            _ network: TestNetwork,
            _ app: String,
            _ pushkey: String,
            event: String?,
            _ rest: JSONObject = JSONObject()
        ) async throws -> JSONValue {
            var notification = rest
            notification["event_id"] = event.map(JSONValue.string)
            notification["devices"] = [["app_id": .string(app), "pushkey": .string(pushkey)]]
            let body: JSONValue = ["notification": .object(notification)]
            let answer = try await network.client.send(.POST, Self.path, body: body.serialized)
            try #require(answer.status == 200, "\(answer.text)")
            return answer.json
        }

        private func bind(
            _ app: String,
            _ settings: JSONValue,
            to network: TestNetwork,
            on service: RunningService
        ) async throws {
            let answer = try await service.call(.PUT, "/v1/networks/\(network.id)/faces/matrix/\(app)", settings)
            try #require(answer.status == 201, "\(answer.text)")
        }

        @Test func `what had gone before anybody met it is forgotten after one 410: pushkeys, addresses, imports`()
            async throws
        {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeAPNsCredential(simulator.apnsKey)
                let settings: JSONValue = ["provider": "apns", "appId": .string(TestNetwork.app)]
                try await bind("ios", settings, to: network, on: service)
                let tokens = (0..<4).map { _ in SimulatedToken.apns() }
                for token in tokens { simulator.removeDevice(token) }
                let (pushkey, newer, address, imported) = (tokens[0], tokens[1], tokens[2], tokens[3])
                func state(_ device: String) async throws -> String? {
                    let shown = try await network.send(.GET, "/devices/\(device)")
                    return shown["state"]?.text
                }
                func id(_ token: String) -> String {
                    DeviceID(reachedAt: .apns(token: token, appID: TestNetwork.app, environment: .production)).rawValue
                }
                // A pushkey that was obtained after its phone is said to have gone is not believed to be gone.
                let devices: [JSONValue] = [
                    ["app_id": "ios", "pushkey": .string(pushkey)],
                    [
                        "app_id": "ios", "pushkey": .string(newer),
                        "pushkey_ts": .number(JSONNumber(Int(WallClock.system.now().milliseconds / 1_000) + 60)),
                    ],
                ]
                let notification: JSONValue = ["event_id": "$1", "room_id": "!r:x", "devices": .array(devices)]
                let body: JSONValue = ["notification": notification]
                #expect(try await network.client.send(.POST, Self.path, body: body.serialized).status == 200)
                let phone: JSONValue = [
                    "provider": "apns", "appId": .string(TestNetwork.app), "environment": "production",
                    "token": .string(address),
                ]
                let direct: JSONValue = ["id": "n-1", "to": ["addresses": [phone]], "body": "Hello"]
                _ = try await network.send(.POST, "/notifications", direct)
                try await network.importIPhones(["iphone": imported])
                _ = try await network.accept(TestEvents.messageSent("sent"))
                for device in [id(pushkey), id(address), "iphone"] {
                    try await eventually("the death of \(device)") { try await state(device) == "unregistered" }
                }
                try await eventually("the answer about the newer pushkey") {
                    simulator.received.notifications.count == tokens.count
                }
                #expect(try await notify(network, "ios", pushkey, event: "$2")["rejected"] == [.string(pushkey)])
                #expect(try await notify(network, "ios", newer, event: "$2")["rejected"] == [])
                #expect(try await state(id(newer)) == "active")
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `a homeserver that a network expects moves its pushkeys here at once`() async throws {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await bind("open", ["provider": "apns"], to: network, on: service)
                try await bind("known", ["provider": "apns", "allowFrom": ["127.0.0.0/8"]], to: network, on: service)
                func post(_ app: String, _ number: Int) async throws -> UInt {
                    let devices = (0..<100).map { _ -> JSONValue in
                        ["app_id": .string(app), "pushkey": .string(SimulatedToken.apns())]
                    }
                    let notification: JSONValue = ["event_id": .string("$\(number)"), "devices": .array(devices)]
                    let body: JSONValue = ["notification": notification]
                    return try await network.client.send(.POST, Self.path, body: body.serialized).status
                }
                var strangers: [UInt] = []
                for number in 0..<8 { strangers.append(try await post("open", number)) }
                #expect(strangers.contains(429))
                for number in 0..<8 { #expect(try await post("known", number) == 200) }
                #expect(try await service.stop() == 0)
            }
        }

        @Test func `a homeserver's notifications reach phones, and what is gone is rejected with the next one`()
            async throws
        {
            try await withSimulator { simulator in
                let service = try await RunningService.start(in: scratch, environment: simulator.environment)
                let network = try await TestNetwork(on: service)
                try await network.storeAPNsCredential(simulator.apnsKey)
                for (app, name) in [("ios", TestNetwork.app), ("text", TestNetwork.app)] {
                    var settings: JSONObject = ["provider": "apns", "appId": .string(name)]
                    if app == "text" { settings["payload"] = "text" }
                    try await bind(app, .object(settings), to: network, on: service)
                }
                let token = SimulatedToken.apns()
                let message: JSONObject = [
                    "room_id": "!r:x", "room_name": "Lobby", "type": "m.room.message", "sender": "@a:x",
                    "sender_display_name": "Alice", "counts": ["unread": 2],
                    "content": ["msgtype": "m.text", "body": .string(String(repeating: "long ", count: 2_000))],
                ]
                for _ in 0..<2 {
                    #expect(try await notify(network, "ios", token, event: "$1", message)["rejected"] == [])
                }
                let first = try await eventually("the phone's notification") { simulator.accepted(for: token).last }
                #expect(first.json["aps"]?["badge"] == 2)
                #expect(first.json["aps"]?["alert"]?["loc-key"] == "MSG_FROM_USER_IN_ROOM_WITH_CONTENT")
                let words = first.json["aps"]?["alert"]?["loc-args"]?.elements.compactMap(\.text) ?? []
                #expect(words.prefix(2) == ["Alice", "Lobby"])
                #expect(words.last?.hasSuffix("…") == true, "it is cut so that it fits")
                #expect(first.headers["apns-priority"] == "10")

                #expect(try await notify(network, "text", token, event: "$2", message)["rejected"] == [])
                let second = try await eventually("the text") {
                    simulator.accepted(for: token).last { $0.json["aps"]?["alert"]?["title"] != nil }
                }
                #expect(second.json["aps"]?["alert"]?["title"] == "Alice (Lobby)")
                #expect(simulator.accepted(for: token).count == 2, "a repeated notification is sent once")

                simulator.removeDevice(token)
                #expect(try await notify(network, "ios", token, event: "$3")["rejected"] == [])
                let id = DeviceID(reachedAt: .apns(token: token, appID: TestNetwork.app, environment: .production))
                try await eventually("the phone's death") {
                    try await network.send(.GET, "/devices/\(id)")["state"]?.text == "unregistered"
                }
                #expect(try await notify(network, "ios", token, event: "$4")["rejected"] == [.string(token)])
                #expect(try await service.stop() == 0)
            }
        }
    }
}
