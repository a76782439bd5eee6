import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

/// The push log, `GET /channels/[meta]log:push/messages` (FACES E7).
@Suite(.ably) struct AblyLogTests {
    private let ably: AblyService = lent()
    private static let path = "/channels/%5Bmeta%5Dlog:push/messages"
    private static let app = "com.acme.chat"

    @Test(arguments: [
        (DeliveryState.dead, "payload too large" as String?, 103003), (.dead, "PayloadTooLarge", 103003),
        (.dead, "INVALID_ARGUMENT", 103003), (.dead, "apns-topic is not one of the app's", 103003),
        (.dead, "http 418", 103004), (.dead, "sent once: http 503", 103004), (.dead, nil, 103004),
        (.dead, "DeviceTokenNotForTopic", 103005), (.dead, "invalid subscription keys", 103005),
        (.unregistered, "Unregistered", 103005), (.unregistered, "BadDeviceToken", 103005),
        (.expired, nil, 103001), (.expired, "withdrawn", 103001),
    ])
    func `a device that was not reached is a message that says why`(state: DeliveryState, reason: String?, code: Int)
        async throws
    {
        let id = AblySource.id(of: "base:0", on: "open:a", of: "app1")
        try await ably.note("d1", state, reason, called: id, in: "open:a")
        let answer = try await ably.call(.get, Self.path, as: AblyService.token("app1.log"))
        #expect(answer.status == 200 && answer["1"] == nil)
        guard case .object(let line)? = answer["0"] else { throw AblyDataMissing(answer: "\(answer.status)") }
        #expect(line.members.map(\.key).sorted() == ["data", "encoding", "id", "name", "timestamp"])
        #expect(line["name"] == "push" && line["encoding"] == "json")
        #expect(line["timestamp"] == JSONValue(Int(FaceStage.now.milliseconds)))
        let data = try Self.data(answer, 0)
        #expect(data["error", "code"] == JSONValue(code))
        #expect(data.string("error", "message")?.isEmpty == false)
        #expect(data["deviceId"] == "d1" && data["clientId"] == "alice")
        #expect(data["channel"] == "open:a" && data["messageId"] == "base")
    }

    @Test func `only those read it who have history on it, and no other channel has one`() async throws {
        for token in [AblyService.app(), AblyService.token(capability: ["*": ["history"]])] {
            #expect(try await ably.call(.get, Self.path, as: token).error == [401, 40160])
        }
        #expect(try await ably.call(.get, Self.path, as: nil).error == [401, 40101])
        for capability in [["[meta]*": ["history"]], ["[*]*": ["*"]]] as [JSONValue] {
            let token = AblyService.token(capability: capability)
            #expect(try await ably.call(.get, Self.path, as: token).json == [])
        }
        for channel in ["open:a", "%5Bmeta%5Dlog"] {
            #expect(try await ably.call(.get, "/channels/\(channel)/messages").error == [405, 40500])
        }
        for query in [
            "limit=0", "limit=1001", "start=x", "end=-1", "start=2&end=1", "direction=up", "cursor=x",
            "start=1&start=2",
        ] {
            #expect(try await ably.call(.get, "\(Self.path)?\(query)").error == [400, 40003], "\(query)")
        }
    }

    @Test func `what is another application's is not in it`() async throws {
        var own: String { AblySource.newID(of: "app1") }
        try await ably.note("own", .dead, nil, called: own)
        try await ably.note("native", .dead, nil, called: "event-1", in: "c")
        try await ably.note("old", .dead, nil, called: own, app: "com.acme.chat")
        try await ably.note("browser", .dead, nil, called: own, through: .webpush, app: "push.example.com")
        try await ably.note("other-source", .dead, nil, called: AblySource.newID(of: "app9"))
        try await ably.note("other-app", .dead, nil, called: own, app: "com.acme.other")
        try await ably.note("iphone", .dead, nil, called: own, through: .apns, app: "com.acme.other")
        try await ably.note("webhook", .dead, nil, called: own, through: .webhook, app: "hooks.example.com")
        try await ably.note("rival", .dead, nil, called: own, in: "c", of: "rival")
        let answer = try await ably.call(.get, Self.path)
        let devices = try (0..<4).map { try Self.data(answer, $0).string("deviceId") }
        #expect(devices == ["browser", "old", "native", "own"] && answer["4"] == nil)
        #expect(try Self.data(answer, 3)["messageId"] == nil && Self.data(answer, 3)["channel"] == nil)
        #expect(try Self.data(answer, 2)["channel"] == "c")
    }

    @Test func `what came with a notification is a line without a device`() async throws {
        let address = DeviceAddress.fcm(token: "secret-token", appID: Self.app)
        let id = DeviceID(reachedAt: address)
        try await ably.note(id, .dead, nil, called: AblySource.newID(of: "app1"), owner: .nobody)
        let answer = try await ably.call(.get, Self.path)
        let data = try Self.data(answer, 0)
        #expect(data["deviceId"] == nil && data["clientId"] == nil && data["error", "code"] == 103004)
        #expect(!String(decoding: answer.bytes, as: UTF8.self).contains("secret-token"))
    }

    @Test(arguments: [
        ("no credential for fcm com.acme.chat", 103006), ("http 503", 103007), ("connection refused", 103007),
        ("UNAUTHENTICATED", 103008), ("token endpoint: invalid_grant", 103008), ("InvalidProviderToken", 103008),
    ])
    func `a lane that is paused is a line of its own`(reason: String, code: Int) async throws {
        func lane(_ network: NetworkID, _ app: String, _ circuit: LaneStatus.Circuit) -> LaneStatus {
            let lane = Lane(networkID: network, provider: .fcm, appID: app)
            return LaneStatus(lane: lane, circuit: circuit, since: FaceStage.now, reason: reason)
        }
        ably.stub.lanes = [
            lane("acme", Self.app, .open), lane("acme", "com.acme.other", .open), lane("rival", Self.app, .open),
        ]
        let answer = try await ably.call(.get, Self.path)
        #expect(try Self.data(answer, 0)["error", "code"] == JSONValue(code) && answer["1"] == nil)
        ably.stub.lanes = [lane("acme", Self.app, .closed)]
        #expect(try await ably.call(.get, Self.path).json == [])
    }

    @Test func `a message where no push is enabled leaves a line, of which so many are kept`() async throws {
        let push = #""extras":{"push":{"data":{"a":1}}}"#
        let messages = #"[{"id":"m:0",\#(push)},{"id":"m:1",\#(push)}]"#
        #expect(try await ably.call(.post, "/channels/shut:a/messages", messages).status == 201)
        // Without extras.push, or with push on, there is nothing to tell.
        #expect(try await ably.call(.post, "/channels/shut:a/messages", #"{"id":"quiet"}"#).status == 201)
        #expect(try await ably.call(.post, "/channels/open:a/messages", #"{"id":"sent",\#(push)}"#).status == 201)
        let answer = try await ably.call(.get, Self.path)
        let data = try Self.data(answer, 0)
        #expect(data["error", "code"] == 103009 && answer["1"] == nil)
        #expect(data["channel"] == "shut:a" && data["messageId"] == "m" && data["deviceId"] == nil)
        let rival = AblyService.token("app2.admin", capability: ["[meta]*": ["history"]])
        #expect(try await ably.call(.get, Self.path, as: rival).error == [401, 40160])
        for number in 0..<Journal.depth {
            _ = try await ably.call(.post, "/channels/shut:b/messages", #"{"id":"n\#(number)",\#(push)}"#)
        }
        let full = try await ably.call(.get, Self.path + "?limit=1000")
        #expect(full["\(Journal.depth - 1)"] != nil && full["\(Journal.depth)"] == nil)
        #expect(try Self.data(full, Journal.depth - 1)["messageId"] == "n0")
    }

    @Test(arguments: ["application/json", "application/x-msgpack"])
    func `pages follow one another by their links, in both directions, whatever a line tells of`(type: String)
        async throws
    {
        var source: String { AblySource.newID(of: "app1") }
        var moments: [Int64] = []
        for number in 0..<3 {
            try await ably.stage.advance(by: .seconds(1))
            moments.append((FaceStage.now + .seconds(moments.count + 1)).milliseconds)
            try await ably.note(DeviceID(trusted: "d\(number)"), .dead, nil, called: source)
            // Another application's, which pages pass over.
            try await ably.note("x", .dead, nil, called: source, app: "com.acme.other", count: 150)
            let push = #"{"id":"m\#(number)","extras":{"push":{"data":{"a":1}}}}"#
            _ = try await ably.call(.post, "/channels/shut:a/messages", push)
        }
        let lane = Lane(networkID: "acme", provider: .fcm, appID: Self.app)
        let since = Timestamp(milliseconds: moments[1])
        ably.stub.lanes = [LaneStatus(lane: lane, circuit: .open, since: since, reason: "http 503")]
        func walk(_ query: String) async throws -> [String] {
            var (names, pages): ([String], Int) = ([], 0)
            var path = "\(Self.path)?\(query)"
            while true {
                let answer = try await ably.call(.get, path, headers: ["accept": type])
                #expect(answer.status == 200 && answer.headers[.contentType]?.hasPrefix(type) == true)
                guard case .array(let lines)? = answer.json else { return [] }
                for index in lines.indices {
                    let data = try Self.data(answer, index)
                    names.append(data.string("deviceId") ?? data.string("messageId") ?? "lane")
                }
                pages += 1
                let links = answer.headers[values: .link]
                #expect(links.contains { $0.hasSuffix(#"rel="first""#) })
                guard pages < 50, let next = links.first(where: { $0.hasSuffix(#"rel="next""#) }) else {
                    return names
                }
                path = "/channels/%5Bmeta%5Dlog:push/" + next.dropFirst(3).prefix { $0 != ">" }
            }
        }
        let all = ["d2", "m2", "d1", "m1", "lane", "d0", "m0"]
        for limit in [1, 2, 3, 100] {
            #expect(try await walk("limit=\(limit)") == all)
            #expect(try await walk("limit=\(limit)&direction=forwards") == all.reversed())
        }
        #expect(try await walk("start=\(moments[1])") == ["d2", "m2", "d1", "m1", "lane"])
        #expect(try await walk("start=\(moments[1])&end=\(moments[1])&limit=1") == ["d1", "m1", "lane"])
        #expect(try await walk("end=\(moments[0])&direction=backwards") == ["d0", "m0"])
        #expect(try await walk("end=\(moments[0] - 1)").isEmpty)
    }

    @Test func `what is published is named so that the log can name it`() async throws {
        let long = String(repeating: "i", count: 250)
        for (id, base) in [("a:0", "a"), ("plain", "plain"), ("a:b:7", "a:b"), (long, nil), ("\u{7}", nil)] {
            let source = AblySource.id(of: id, on: "open:a", of: "app1")
            #expect(source.utf8.count <= 256 && Identifier<Event>(source) != nil)
            #expect(AblySource.appID(of: source) == "app1" && AblySource.messageID(of: source) == base)
            #expect(source == AblySource.id(of: id, on: "open:a", of: "app1"))
            #expect(source != AblySource.id(of: id, on: "open:b", of: "app1"))
        }
        #expect(AblySource.messageID(of: AblySource.newID(of: "app1")) == nil)
        #expect(AblySource.appID(of: "event-1") == nil && AblySource.messageID(of: "ably:x") == nil)
    }

    /// The data of a line, which is a text.
    private static func data(_ answer: Answer, _ index: Int) throws -> AblyData {
        guard case .string(let text)? = answer["\(index)", "data"] else {
            throw AblyDataMissing(answer: String(decoding: answer.bytes, as: UTF8.self))
        }
        return AblyData(json: try JSONValue(parsing: text))
    }
}

private struct AblyDataMissing: Error { let answer: String }

/// What a line of the push log tells.
private struct AblyData {
    let json: JSONValue

    subscript(path: String...) -> JSONValue? {
        path.reduce(json) { value, step in if case .object(let object)? = value { object[step] } else { nil } }
    }

    func string(_ path: String...) -> String? {
        let value: JSONValue? = path.reduce(json) { value, step in
            if case .object(let object)? = value { object[step] } else { nil }
        }
        if case .string(let text)? = value { return text }
        return nil
    }
}

extension AblyService {
    /// Writes down what became of a device, or the same of so many.
    fileprivate func note(
        _ device: DeviceID,
        _ state: DeliveryState,
        _ reason: String?,
        called source: String,
        in channel: ChannelID? = nil,
        through provider: ProviderName = .fcm,
        app: String = "com.acme.chat",
        owner: UserID = "alice",
        of network: NetworkID = "acme",
        count: Int = 1
    ) async throws {
        let record = DeviceRecord(
            deviceID: device,
            userID: owner,
            state: state,
            attempts: 1,
            reason: reason,
            at: FaceStage.now
        )
        let lane = Lane(networkID: network, provider: provider, appID: app)
        let records = [DeviceRecord](repeating: record, count: count)
        try await stage.settle(records, in: lane, called: source, channel: channel)
    }
}
