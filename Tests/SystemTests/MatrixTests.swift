import CarillonCore
import CarillonSimulator
import NIOHTTP1
import Testing

extension Services {
    /// A homeserver's notifications, from its request to the phone.
    @Suite struct MatrixTests {
        private static let path = "/_matrix/push/v1/notify"
        private let scratch: Scratch

        init() throws {
            scratch = try Scratch()
        }

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
                    let answer = try await network.client.send(
                        .PUT,
                        "/v1/networks/\(network.id)/faces/matrix/\(app)",
                        token: service.operatorToken,
                        body: JSONValue.object(settings).serialized
                    )
                    try #require(answer.status == 201, "\(answer.text)")
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
                let id = DeviceID(
                    reachedAt: .apns(token: token, appID: TestNetwork.app, environment: .production)
                )
                try await eventually("the phone's death") {
                    try await network.send(.GET, "/devices/\(id)")["state"]?.text == "unregistered"
                }
                #expect(try await notify(network, "ios", token, event: "$4")["rejected"] == [.string(token)])
                #expect(try await service.stop() == 0)
            }
        }
    }
}
