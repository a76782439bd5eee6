import CarillonCore
import CarillonDialects
import Testing

/// Signatures that others computed (DIALECTS section 16).
@Suite struct KnownAnswerTests {
    struct Vector: Sendable, CustomTestStringConvertible {
        var dialect: DialectName
        var secret: String
        var body: String
        var headers: [(name: String, value: String)]
        var query: [(name: String, value: String)] = []
        var target = ""
        var settings = JSONObject()

        var testDescription: String { "\(dialect) \(headers.first?.name ?? "")" }

        func verify(
            body: [UInt8]? = nil,
            secrets: [String]? = nil,
            headers: [(name: String, value: String)]? = nil,
            now: Timestamp = Scene.now
        ) throws(DialectRefusal) {
            let scene = Scene(dialect)
            var document = DialectDocument(
                name: dialect,
                secrets: (secrets ?? [secret]).map { .init(value: Secret($0), setAt: Scene.now) },
                settings: settings,
                updatedAt: Scene.now
            )
            document.isEnabled = true
            let request = DialectRequest(
                target: target,
                query: query,
                headers: headers ?? self.headers,
                body: body ?? Array(self.body.utf8)
            )
            try scene.dialect.verify(request, document, now: now)
        }
    }

    static let amityBody =
        #"{"event":"message.didCreate","data":{"messages":[{"messageId":"m-1","channelId":"general","userId":"alice","type":"text","data":{"text":"Hello"},"createdAt":"2026-11-20T10:00:00.000Z"}],"users":[{"userId":"alice","displayName":"Alice"}]}}"#
    static let nonASCIIBody =
        #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"général","displayName":"Général","type":"community","createdAt":"2026-11-20T10:00:00.000Z"}],"users":[{"userId":"bob","displayName":"Bob"}],"userIds":["bob"]}}"#
    static let sendbirdBody =
        #"{"category":"group_channel:message_send","sender":{"user_id":"alice","nickname":"Alice"},"silent":false,"type":"MESG","mention_type":"users","mentioned_users":[],"payload":{"message_id":3000000001,"message":"see https:\/\/x.example","created_at":1763632800000},"channel":{"name":"General","channel_url":"general"},"app_id":"A1"}"#
    static let joinBody =
        #"{"category":"group_channel:join","joined_at":1763632801000,"users":[{"user_id":"carol","nickname":"Carol"}],"members":[{"user_id":"alice","nickname":"Alice"},{"user_id":"carol","nickname":"Carol"}],"channel":{"name":"General","channel_url":"general"},"app_id":"A1"}"#
    static let streamBody =
        #"{"type":"message.new","created_at":"2026-11-20T10:00:00.123456789Z","cid":"messaging:general","channel_type":"messaging","channel_id":"general","message":{"id":"m-1","text":"Hello","type":"regular","user":{"id":"alice","name":"Alice"},"mentioned_users":[]},"user":{"id":"alice","name":"Alice"},"members":[{"user_id":"alice"},{"user_id":"bob"}]}"#
    static let talkJSBody =
        #"{"id":"evt_1","type":"message.sent","createdAt":1763632800000,"data":{"sender":{"id":"alice","name":"Alice"},"conversation":{"id":"general","subject":"General","participants":{"alice":{"access":"ReadWrite","notify":true},"bob":{"access":"ReadWrite","notify":true}}},"message":{"id":"msg_1","conversationId":"general","type":"UserMessage","senderId":"alice","text":"Hello","readBy":[],"createdAt":1763632800000}}}"#
    static let twilioBody =
        #"[{"specversion":"1.0","type":"com.twilio.conversations.message.added","source":"AB1","id":"NO1","data":{}}]"#
    private static let sendbirdToken = "0123456789abcdef0123456789abcdef01234567"
    private static let fixtureSecret = "test_secret_do_not_use_in_production"

    static let vectors: [Vector] = [
        Vector(
            dialect: .amity,
            secret: "amity-secret-1",
            body: amityBody,
            headers: [("x-amity-signature", "KTLs7PUJOUlU7R/5Ea5c6LubrrUSwwp5+Uh4Y3lxv08=")]
        ),
        Vector(
            dialect: .amity,
            secret: "amity-secret-1",
            body: amityBody,
            headers: [("X-Amity-Signature", "2932ececf509394954ed1ff911ae5ce8bb9baeb512c30a79f94878637971bf4f")]
        ),
        Vector(
            dialect: .amity,
            secret: "amity-secret-1",
            body: nonASCIIBody,
            headers: [("x-amity-signature", "ylV9xBfItrJGmeeTAxrWVO597o30zep5emPlMayLueA=")]
        ),
        Vector(
            dialect: .sendbird,
            secret: sendbirdToken,
            body: sendbirdBody,
            headers: [("x-sendbird-signature", "b69e555e95a4d92d8c615ce76547e3792aa8f90cf75625409cf1bc34f487c5dc")]
        ),
        Vector(
            dialect: .sendbird,
            secret: sendbirdToken,
            body: joinBody,
            headers: [("x-sendbird-signature", "6685b8f244b1589831a5fac1ddb382f1e6e79e730399dbc635049ca172e5b6b6")]
        ),
        Vector(
            dialect: .stream,
            secret: "stream-secret-1",
            body: streamBody,
            headers: [("x-signature", "4215eb46d9165778a4197ce1910ad5ca3bcf820b8245df91e7f0e4576d06f98c")]
        ),
        Vector(
            dialect: .stream,
            secret: fixtureSecret,
            body: #"{"type":"channel.created","created_at":1778198400000000000}"#,
            headers: [("x-signature", "2e66916a2ea83e3c1ea981b000f44cff38e3ed7628ad909ee6a78d4bc3fdd714")]
        ),
        Vector(
            dialect: .stream,
            secret: fixtureSecret,
            body: #"{"type":"message.new","created_at":1778198400000000000}"#,
            headers: [("x-signature", "408ab27d58b18a584d29f2801dde0d5ad20e5f5965039ac88d2ef49014a2c4a7")]
        ),
        Vector(
            dialect: .talkjs,
            secret: "talkjs-secret-1",
            body: talkJSBody,
            headers: [
                ("x-talkjs-signature", "FA2654D1D80F011D76B32B13D6E11B473B381A30FB440013A4AFF1B9027A1A83"),
                ("x-talkjs-timestamp", "1763632800123"),
            ]
        ),
    ]

    @Test(arguments: vectors)
    func `takes what the sender signed, by any of the secrets of a rotation`(_ vector: Vector) throws {
        try vector.verify()
        try vector.verify(secrets: ["the next one", vector.secret])
        let shouted = vector.headers.map { (name: $0.name.uppercased(), value: $0.value) }
        try vector.verify(headers: shouted)
    }

    @Test(arguments: vectors)
    func `refuses a flipped byte, another secret, no header and two headers`(_ vector: Vector) throws {
        var body = Array(vector.body.utf8)
        body[body.count / 2] ^= 1
        #expect(throws: DialectRefusal.self) { try vector.verify(body: body) }
        #expect(throws: DialectRefusal.self) { try vector.verify(secrets: ["another"]) }
        #expect(throws: DialectRefusal.self) { try vector.verify(secrets: []) }
        #expect(throws: DialectRefusal.self) { try vector.verify(headers: []) }
        #expect(throws: DialectRefusal.self) { try vector.verify(headers: vector.headers + [vector.headers[0]]) }
        for index in vector.headers.indices {
            var headers = vector.headers
            headers[index].value = "x" + headers[index].value.dropFirst()
            #expect(throws: DialectRefusal.self) { try vector.verify(headers: headers) }
        }
    }

    @Test func `a body that was written anew does not verify`() throws {
        let vector = try #require(Self.vectors.first { $0.dialect == .sendbird })
        let again = vector.body.replacing(#"\/"#, with: "/")
        #expect(throws: DialectRefusal.self) { try vector.verify(body: Array(again.utf8)) }
    }

    @Test func `a timestamp of TalkJS is right for five minutes, either way, and its digits in either case`() throws {
        let vector = try #require(Self.vectors.first { $0.dialect == .talkjs })
        try vector.verify(now: Scene.now + .seconds(300))
        try vector.verify(now: Scene.now - .seconds(300))
        #expect(throws: DialectRefusal.self) { try vector.verify(now: Scene.now + .seconds(301)) }
        #expect(throws: DialectRefusal.self) { try vector.verify(now: Scene.now - .seconds(301)) }
        var headers = vector.headers
        headers[0].value = headers[0].value.lowercased()
        try vector.verify(headers: headers)
    }

    @Test func `a wrong copy under Amity's former header is dropped, and a right one is taken`() throws {
        let vector = Self.vectors[0]
        try vector.verify(headers: [("x-eko-signature", vector.headers[0].value)])
        #expect {
            try vector.verify(headers: [("x-eko-signature", "AAAA")])
        } throws: { error in
            if case .dropped? = error as? DialectRefusal { true } else { false }
        }
    }

    @Test(arguments: ["https://carillon.example", "https://carillon.example/", "https://carillon.example:443"])
    func `takes what Twilio signed for this address`(_ address: String) throws {
        let digest = hexSHA256(Self.twilioBody)
        let vector = Vector(
            dialect: .cloudevents,
            secret: "12345",
            body: Self.twilioBody,
            headers: [("x-twilio-signature", "ON+qQyZN3/MeszkMuUyBsMhF1kc=")],
            query: [("bodySHA256", digest)],
            target: "/v1/networks/acme/events/cloudevents?bodySHA256=\(digest)",
            settings: ["publicUrl": .string(address)]
        )
        try vector.verify()
        #expect(throws: DialectRefusal.self) { try vector.verify(body: Array((Self.twilioBody + " ").utf8)) }
        #expect(throws: DialectRefusal.self) { try vector.verify(secrets: ["54321"]) }
        var elsewhere = vector
        elsewhere.settings = ["publicUrl": "https://other.example"]
        #expect(throws: DialectRefusal.self) { try elsewhere.verify() }
        elsewhere = vector
        elsewhere.query = []
        #expect(throws: DialectRefusal.self) { try elsewhere.verify() }
    }

    @Test func `a user and a password suffice where Twilio signs as well`() throws {
        let document = DialectDocument(.cloudevents, basic: ("carillon", "s3cret:with:colons"))
        let verify = { (headers: [(String, String)]) throws -> Void in
            let request = DialectRequest(headers: headers, body: [])
            try Scene(.cloudevents).dialect.verify(request, document, now: Scene.now)
        }
        let signature = ("X-Twilio-Signature", "ON+qQyZN3/MeszkMuUyBsMhF1kc=")
        let basic = ("Authorization", "Basic Y2FyaWxsb246czNjcmV0OndpdGg6Y29sb25z")
        for headers in [[basic], [basic, signature]] { try verify(headers) }
        for headers in [
            [signature], [("Authorization", "Basic Y2FyaWxsb246eA=="), signature], [basic, signature, signature],
        ] {
            #expect(throws: DialectRefusal.self) { try verify(headers) }
        }
    }

    @Test func `takes a password with colons, and no other`() throws {
        let document = DialectDocument(.cometchat, basic: ("carillon", "s3cret:with:colons"))
        let verify = { (value: String) throws -> Void in
            let request = DialectRequest(headers: [("Authorization", value)], body: [])
            try Scene(.cometchat).dialect.verify(request, document, now: Scene.now)
        }
        try verify("Basic Y2FyaWxsb246czNjcmV0OndpdGg6Y29sb25z")
        for wrong in ["Basic Y2FyaWxsb246czNjcmV0", "Basic", "Basic !", "Bearer x", ""] {
            #expect(throws: DialectRefusal.self) { try verify(wrong) }
        }
        let none = DialectRequest(body: [])
        #expect(throws: DialectRefusal.self) {
            try Scene(.cometchat).dialect.verify(none, document, now: Scene.now)
        }
        #expect(throws: DialectRefusal.self) {
            try Scene(.cometchat).dialect.verify(none, DialectDocument(.cometchat), now: Scene.now)
        }
    }

    @Test func `takes a token in the body, in either form`() throws {
        let verify = { (name: DialectName, body: String, type: String) throws -> Void in
            let request = DialectRequest(headers: [("content-type", type)], body: Array(body.utf8))
            try Scene(name).dialect.verify(request, DialectDocument(name, secrets: "old", "t&1"), now: Scene.now)
        }
        try verify(.rocketchat, #"{"token":"t&1"}"#, "application/json")
        try verify(.mattermost, #"{"token":"old"}"#, "application/json")
        try verify(.mattermost, "a=b&token=t%261", "application/x-www-form-urlencoded; charset=utf-8")
        #expect(throws: DialectRefusal.self) { try verify(.rocketchat, #"{"token":"x"}"#, "application/json") }
        #expect(throws: DialectRefusal.self) { try verify(.rocketchat, "{}", "application/json") }
        #expect(throws: DialectRefusal.self) { try verify(.mattermost, "a=b", "application/x-www-form-urlencoded") }
    }

    @Test func `takes Matrix's token from the header, from the query, or from both when they agree`() throws {
        let verify = { (header: String?, parameter: String?) throws -> Void in
            let request = DialectRequest(
                query: parameter.map { [("access_token", $0)] } ?? [],
                headers: header.map { [("authorization", "Bearer \($0)")] } ?? [],
                body: []
            )
            try Scene(.matrix).dialect.verify(request, DialectDocument(.matrix, secrets: "hs"), now: Scene.now)
        }
        try verify("hs", nil)
        try verify(nil, "hs")
        try verify("hs", "hs")
        for (header, parameter) in [(nil, nil), ("x", nil), (nil, "x"), ("hs", "x"), ("x", "hs")]
            as [(String?, String?)]
        {
            #expect(throws: DialectRefusal.self) { try verify(header, parameter) }
        }
    }

    @Test func `unpacks gzip within its limit`() throws {
        #expect(Gunzip.isPacked(Self.packed))
        let plain = try Gunzip.unpack(Self.packed, upTo: 59)
        #expect(
            String(decoding: plain, as: UTF8.self) == #"{"type":"channel.created","created_at":1778198400000000000}"#
        )
        #expect(throws: Gunzip.Failure.tooLarge) { try Gunzip.unpack(Self.bomb, upTo: 1000) }
        #expect(try Gunzip.unpack(Self.bomb, upTo: 100_000).count == 100_000)
        for length in [2, 10, Self.bomb.count / 2, Self.bomb.count - 1] {
            #expect(throws: Gunzip.Failure.damaged) {
                try Gunzip.unpack(Array(Self.bomb.prefix(length)), upTo: 100_000)
            }
        }
        #expect(throws: Gunzip.Failure.damaged) { try Gunzip.unpack(Self.bomb + [0], upTo: 100_000) }
    }

    /// A body that Stream publishes, packed.
    static let packed = bytes(
        hex: "1f8b0800000000000203ab562aa92c4855b2524ace48cccb4bcdd14b2e4a4d2c494d51d25182b2e2134b94ac0c"
            + "cdcd2d0c2d2d4c0c10a0160026dd19b43b000000"
    )
    /// A hundred thousand times the same letter.
    private static let bomb = bytes(
        hex: "1f8b0800000000000203edc13101000000c2a0aceb5fc21a1e4001000000000000000000000000000000000000"
            + "000000000000000000000000000000000000000000000000000000000000000000000000000000000000000000"
            + "000000000000000000000000000000000000000000000000000000000000000000af0687fae21ba0860100"
    )
}
