@testable import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

/// FACES section D4: which pushkeys a homeserver is to forget.
@Suite(.stage(MatrixFace.init)) struct MatrixRejectionTests {
    private let stage: FaceStage = lent()
    private let post: Post

    init() throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        post = Post(stage: stage)
    }

    private static let key = "token"
    private static let address = DeviceAddress.fcm(token: key, appID: "app")

    private struct Post {
        let stage: FaceStage

        /// What is rejected of a notification with an event of its own.
        func callAsFunction(_ rest: String = "", key: String = MatrixRejectionTests.key) async throws -> JSONValue? {
            let event = "$\(stage.stub.accepted.count)-\(stage.stub.calls)-\(rest.count)"
            let device = #"{"app_id":"app","pushkey":"\#(key)"\#(rest)}"#
            let body = #"{"notification":{"event_id":"\#(event)","devices":[\#(device)]}}"#
            return try await stage.call(.post, "/_matrix/push/v1/notify", body)["rejected"]
        }
    }

    private func withPost(
        _ binding: String = #"{"provider":"fcm"}"#,
        _ test: @Sendable (FaceStage, Post) async throws -> Void
    ) async throws {
        try await withStage(MatrixFace.init) { stage in
            try stage.bind("app", binding)
            try await test(stage, Post(stage: stage))
        }
    }

    @Test func `a pushkey is rejected when its push service says that it is gone`() async throws {
        let id = DeviceID(reachedAt: Self.address)
        #expect(try await post() == [])
        #expect(stage.stub.accepted.count == 1)
        try await stage.report(.unregistered, of: id)
        #expect(try await post() == [.string(Self.key)])
        #expect(stage.stub.accepted.count == 1, "nothing is sent to it")
        let before = Int(FaceStage.now.milliseconds / 1_000)
        #expect(try await post(#","pushkey_ts":\#(before)"#) == [.string(Self.key)])
        #expect(try await post(#","pushkey_ts":\#(before + 1)"#) == [])
        #expect(stage.stub.accepted.count == 2)
        #expect(try await stage.device(id)?.state == .active)
    }

    @Test func `a pushkey in quarantine has a day`() async throws {
        let id = DeviceID(reachedAt: Self.address)
        #expect(try await post() == [])
        try await stage.report(.quarantined, of: id)
        #expect(try await post() == [])
        #expect(stage.stub.accepted.count == 2, "it is counted as nobody's device")
        try await stage.advance(by: .seconds(86_399))
        #expect(try await post() == [])
        try await stage.advance(by: .seconds(1))
        #expect(try await post() == [.string(Self.key)])
        let newer = Int(FaceStage.now.milliseconds / 1_000) + 1
        #expect(try await post(#","pushkey_ts":\#(newer)"#) == [])
        #expect(try await stage.device(id)?.state == .active)
    }

    @Test func `a pushkey that cannot be any device's has a day, too, and is sent nowhere`() async throws {
        try await withPost(#"{"provider":"apns"}"#) { stage, post in
            let first = try await post(key: "not a token!")
            #expect(first == [])
            try await stage.advance(by: .seconds(86_399))
            #expect(try await post(key: "not a token!") == [])
            for event in stage.stub.accepted {
                guard case .known(let event) = event.content, case .devices? = event.direct?.audience else {
                    Issue.record("it must not be sent to an address")
                    continue
                }
            }
            try await stage.advance(by: .seconds(1))
            #expect(try await post(key: "not a token!") == ["not a token!"])
        }
    }

    @Test func `no pushkey is rejected while its push service is not believed`() async throws {
        #expect(try await post() == [])
        try await stage.report(.unregistered, of: DeviceID(reachedAt: Self.address))
        let lane = Lane(networkID: "acme", provider: .fcm, appID: "app")
        var status = LaneStatus(lane: lane, circuit: .closed)
        status.brake = LaneStatus.Brake(since: FaceStage.now, reason: "brake")
        stage.stub.lanes = [status]
        #expect(try await post() == [])
        #expect(stage.stub.accepted.count == 2)
        stage.stub.lanes = [LaneStatus(lane: lane, circuit: .open)]
        #expect(try await post() == [.string(Self.key)])
    }

    @Test func `a registered device meets its pushkey, and keeps its app`() async throws {
        try await withPost(#"{"provider":"fcm","appId":"else"}"#) { stage, post in
            let phone = Device("phone", of: "alice", Self.address, at: FaceStage.now)
            _ = try await stage.store.devices.putDevice(phone, in: "acme")
            #expect(try await post() == [])
            #expect(try await stage.device(DeviceID(reachedAt: Self.address)) == nil)
            #expect(try await stage.device("phone") == phone)
            try await stage.report(.unregistered, of: "phone")
            #expect(try await post() == [.string(Self.key)])
        }
    }

    @Test func `others' pushkeys are not asked about`() async throws {
        #expect(try await post() == [])
        try await stage.report(.unregistered, of: DeviceID(reachedAt: Self.address))
        #expect(try await post(key: "another") == [])
    }

    @Test func `a time may be in milliseconds, and one ahead of our clock is none`() async throws {
        #expect(try await post() == [])
        for time in ["1763000000000", "4102444800000", "4102444800", "-1", "0", "1e300", "1e18"] {
            #expect(try await post(#","pushkey_ts":\#(time)"#) == [])
            let device = try await stage.device(DeviceID(reachedAt: Self.address))
            #expect(device?.obtainedAt == Timestamp(milliseconds: 1_763_000_000_000))
        }
    }

    @Test(arguments: [
        (#","pushkey_ts":1763000000"#, 1_763_000_000_000), ("", nil), (#","pushkey_ts":4102444800"#, nil),
    ])
    func `a new pushkey begins when its homeserver says, or at no time`(_ rest: String, _ begin: Int64?) async throws {
        #expect(try await post(rest) == [])
        let device = try #require(try await stage.device(DeviceID(reachedAt: Self.address)))
        #expect(device.obtainedAt == begin.map { Timestamp(milliseconds: $0) })
        #expect(device.registeredAt == FaceStage.now)
    }

    @Test func `of pushkeys that nobody has seen there are no more than the network has room for`() async throws {
        _ = try await stage.store.accounts.updateNetwork("acme") { network in
            var network = network
            network.limits.ownerlessDevices = 2
            return network
        }
        #expect(try await post(key: "a") == [])
        try await stage.advance(by: .seconds(1))
        #expect(try await post(key: "b") == [])
        #expect(try await post(key: "a") == [])
        #expect(try await post(key: "c") == nil)
        #expect(stage.stub.accepted.count == 3)
        try await stage.advance(by: .seconds(86_401))
        #expect(try await post(key: "c") == [], "one that was not seen for a day made room")
        #expect(try await stage.device(DeviceID(reachedAt: .fcm(token: "a", appID: "app"))) == nil)
    }

    @Test func `a time ahead of our clock revives nobody`() async throws {
        #expect(try await post() == [])
        try await stage.report(.unregistered, of: DeviceID(reachedAt: Self.address))
        #expect(try await post(#","pushkey_ts":4102444800"#) == [.string(Self.key)])
    }

    @Test func `a template may say what is shown`() async throws {
        try await withPost(#"{"provider":"fcm","payload":"text","sound":true}"#) { stage, _ in
            let alice = #""event_id":"$1","type":"m.room.message","sender_display_name":"Alice","room_id":"!r:x""#
            let words = #""content":{"msgtype":"m.text","body":"hi"}"#
            func post(_ notification: String) async throws -> DirectNotification? {
                let device = #"{"app_id":"app","pushkey":"k\#(stage.stub.calls)","tweaks":{"sound":"bell"}}"#
                let body = #"{"notification":{\#(notification),"devices":[\#(device)]}}"#
                _ = try await stage.call(.post, "/_matrix/push/v1/notify", body)
                guard case .known(let event)? = stage.stub.accepted.last?.content else { return nil }
                return event.direct
            }
            let direct = try #require(try await post("\(alice),\(words)"))
            #expect(direct.texts == DirectTexts(DirectTexts.Text(title: "Alice", body: "hi")))
            #expect(direct.content.parts.isEmpty)
            #expect(direct.content.sound == .named("bell"))
            #expect(direct.content.data["channelId"] == "!r:x")
            let named = try #require(try await post(#"\#(alice),"room_alias":"lobby","content":{"msgtype":"m.image"}"#))
            #expect(named.texts == DirectTexts(DirectTexts.Text(title: "Alice (lobby)", body: "Image Message")))
            let only = try #require(try await post(#""event_id":"$3","room_id":"!r:x""#))
            #expect(only.texts.isEmpty)
            #expect(only.content.parts[.fcm]?.replaces == true)
        }
    }

    @Test(arguments: [
        (#""type":"m.room.message","content":{"msgtype":"m.text","body":"hi"}"#, 0, #"{"$text":"body"}"#),
        (#""type":"m.room.message","content":{"msgtype":"m.image","body":"cat.png"}"#, 0, #""cat.png""#),
        (#""type":"m.room.member","membership":"invite","user_is_target":true"#, 1, nil),
    ])
    func `Buzz's apps get its keys`(_ event: String, _ type: Int, _ content: String?) async throws {
        try await withStage(MatrixFace.init) { stage in
            try stage.bind("ios", #"{"provider":"apns","payload":"buzz"}"#)
            try stage.bind("android", #"{"provider":"fcm","payload":"buzz"}"#)
            let devices = #"{"app_id":"ios","pushkey":"AQID"},{"app_id":"android","pushkey":"k"}"#
            let body = """
                {"notification":{"event_id":"$1","room_id":"!r:x","sender":"@a:x","sender_display_name":"Alice",\(event),
                "devices":[\(devices)]}}
                """
            #expect(try await stage.call(.post, "/_matrix/push/v1/notify", body).status == 200)
            let parts = stage.stub.accepted.flatMap { event -> [RawPart] in
                guard case .known(let event) = event.content else { return [] }
                return event.direct.map { Array($0.content.parts.values) } ?? []
            }
            try #require(parts.count == 2)
            let end = content.map { #","content":\#($0)"# } ?? ""
            let common = #""roomId":"!r:x","userName":"Alice"\#(end)"#
            #expect(!parts[0].replaces)
            #expect(
                JSONValue.object(parts[0].payload)
                    == (try JSONValue(parsing: #"{"notificationType":\#(type),\#(common)}"#))
            )
            #expect(
                JSONValue.object(parts[1].payload)
                    == (try JSONValue(parsing: #"{"data":{"notificationType":"\#(type)",\#(common)}}"#))
            )
        }
    }
}

extension FaceStage {
    /// Lets a push service say of a device that it is gone, or not to be reached.
    fileprivate func report(_ state: DeviceState, of device: DeviceID) async throws {
        let owner = try #require(try await self.device(device)).userID
        let now = database.time.clock.now()
        let later = now + .seconds(1)
        let record = DeviceRecord(
            deviceID: device,
            userID: owner,
            state: .unregistered,
            attempts: 1,
            at: now,
            effect: state == .quarantined
                ? .quarantine(ifRegisteredBefore: later, error: "reported")
                : .unregister(ifRegisteredBefore: later, error: "reported")
        )
        let lane = Lane(networkID: "acme", provider: .fcm, appID: "app")
        try await settle([record], in: lane, called: "\(store.ids.next())")
    }
}
