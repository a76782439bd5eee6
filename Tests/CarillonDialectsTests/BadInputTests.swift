import CarillonCore
import CarillonDialects
import Testing

/// What can be wrong with a post, in each dialect: with its proof, its kind, its ids, its numbers and its size.
@Suite struct BadInputTests {
    /// A member of a message, as it is written in its body.
    struct Field: Sendable, CustomTestStringConvertible {
        var telling: Telling
        var key: String
        var value: String

        var isForm: Bool { telling.dialect == .mattermost }
        var testDescription: String { "\(telling.testDescription): \(key)" }

        /// The message with something else in this place; `nil` takes it away.
        func body(with other: String?) -> String {
            let name = isForm ? "\(key)=" : #""\#(key)":"#
            let new = other.map { name + $0 } ?? (isForm ? "x=1" : #""x":1"#)
            return telling.message.body.replacing(name + value, with: new)
        }
    }

    /// Which members of a message are the ids that it cannot do without.
    private static let keys: [(Telling, [(String, String)])] = [
        (.amity, [("messageId", #""1""#), ("channelId", #""general""#), ("userId", #""bob""#)]),
        (.stream, [("id", #""1""#), ("cid", #""m:general""#), ("id", #""bob""#)]),
        (.sendbird, [("message_id", "1"), ("channel_url", #""general""#), ("user_id", #""bob""#)]),
        (.comet, [("id", #""1""#), ("receiver", #""general""#)]),
        (.twilio, [("MessageSid", #""1""#), ("ConversationSid", #""CH1""#), ("Author", #""bob""#)]),
        (.talk, [("id", #""general""#), ("id", #""bob""#)]),
        (.matrix, [("event_id", #""$7""#), ("room_id", #""general""#), ("sender", #""bob""#)]),
        (.rocket, [("message_id", #""1""#), ("channel_id", #""general""#), ("user_id", #""bob""#)]),
        (.mattermost, [("post_id", "1"), ("channel_id", "general"), ("user_id", "bob")]),
    ]

    static let fields = keys.flatMap { telling, keys in keys.map { Field(telling: telling, key: $0, value: $1) } }

    /// Those whose proof covers the body.
    private static let signing: Set<DialectName> = [.amity, .sendbird, .stream, .talkjs]

    static let foreign = Telling.all.filter { $0.dialect != nil }

    // MARK: - Proofs

    @Test(arguments: foreign)
    func `a proof that is missing, twice there, of another secret or another body is none`(_ telling: Telling) throws {
        let name = try #require(telling.dialect)
        let dialect = Dialects.named(name)
        let request = Prover.request(telling.message, name, at: Scene.now)
        let passes = { (request: DialectRequest, document: DialectDocument) -> Bool in
            (try? dialect.verify(request, document, now: Scene.now)) != nil
        }
        for secrets in [[Prover.secret], ["the next one", Prover.secret], [Prover.secret, "the former one"]] {
            #expect(passes(request, Prover.document(name, secrets: secrets)))
        }
        var stranger = Prover.document(name, secrets: ["another"])
        stranger.basic?.password = Secret("another")
        #expect(!passes(request, stranger))
        stranger.secrets = []
        stranger.basic = nil
        #expect(!passes(request, stranger))

        let document = Prover.document(name)
        let isInBody = name == .rocketchat || name == .mattermost
        var bare = request
        (bare.headers, bare.query) = ([], [])
        if isInBody { bare.body = Array(telling.message.body.replacing("token", with: "taken").utf8) }
        #expect(!passes(bare, document))
        if !isInBody {
            var twice = request
            twice.headers += request.headers
            #expect(!passes(twice, document))
            for index in request.headers.indices where request.headers[index].name != "content-type" {
                var altered = request
                altered.headers[index].value = "0" + altered.headers[index].value.dropFirst()
                #expect(!passes(altered, document), "\(request.headers[index].name)")
            }
        }
        guard Self.signing.contains(name) || telling.name == "Twilio" else { return }
        for place in stride(from: 0, to: request.body.count, by: 7) {
            var flipped = request
            flipped.body[place] ^= 1
            #expect(!passes(flipped, document))
        }
    }

    @Test func `TalkJS's proof is none when it is old, whoever has it`() {
        let request = Prover.request(Telling.talk.message, .talkjs, at: Scene.now - .seconds(301))
        #expect(throws: DialectRefusal.unproven("X-TalkJS-Timestamp is too far from now")) {
            try Dialects.named(.talkjs).verify(request, Prover.document(.talkjs), now: Scene.now)
        }
    }

    // MARK: - Bodies

    private func read(_ body: String, of telling: Telling) throws -> DialectReading {
        let name = try #require(telling.dialect)
        var request = Prover.request(telling.message, name, at: Scene.now)
        request.body = Array(body.utf8)
        return try Dialects.named(name).events(of: request, DialectSettings(), now: Scene.now)
    }

    static let kinds: [(Telling, String)] = [
        (Telling.amity, "message.didCreate"), (.stream, "message.new"), (.sendbird, "group_channel:message_send"),
        (.comet, "message_sent"), (.cloud, "chat.message.sent"), (.twilio, "message.added"), (.talk, "message.sent"),
        (.matrix, "m.room.message"),
    ]

    @Test(arguments: kinds)
    func `a kind that nobody knows is ignored, with a reason`(_ telling: Telling, _ kind: String) throws {
        let body = telling.message.body
        #expect(try read(body, of: telling).known.count == 1)
        for other in ["x", "\(kind).x", String(repeating: "x", count: 4_000)] {
            let reading = try read(
                body.replacing(#""\#(kind)""#, with: #""\#(other)""#).replacing(".\(kind)\"", with: ".\(other)\""),
                of: telling
            )
            #expect(reading.known.isEmpty)
            #expect(reading.reasons.count == 1 && reading.reasons[0].utf8.count < 1_000)
        }
    }

    @Test(arguments: fields)
    func `an id that is missing, too long or of another kind makes nothing of a message`(_ field: Field) throws {
        #expect(try read(field.body(with: field.value), of: field.telling).known.count == 1)
        let long = String(repeating: "x", count: 300)
        let others: [String?] =
            field.isForm
            ? [nil, "", long]
            : [nil, "null", #""""#, "{}", "[]", "true", "1.5", "18446744073709551616", #""\#(long)""#]
        for other in others {
            let reading = try read(field.body(with: other), of: field.telling)
            #expect(reading.known.isEmpty, "\(other?.prefix(20) ?? "missing")")
            #expect(!reading.reasons.isEmpty)
        }
    }

    @Test(arguments: fields.filter { !$0.isForm && $0.telling.dialect != .matrix && $0.value.contains("1") })
    func `a number beyond 2^53 is the id that it says`(_ field: Field) throws {
        let reading = try read(field.body(with: "9007199254740993"), of: field.telling)
        let event = try #require(reading.known.first)
        let ids = [event.message?.id, event.channel?.id.rawValue]
        #expect(ids.contains("9007199254740993"))
    }

    static let times: [(Telling, String)] = [
        (Telling.amity, #""messageId":"1","createdAt":"#), (.stream, #""created_at":"#),
        (.sendbird, #""message":"Hello","created_at":"#), (.comet, #""id":"1","sentAt":"#),
        (.talk, #""id":"m1","createdAt":"#), (.matrix, #""event_id":"$7","origin_server_ts":"#),
        (.rocket, #""token":"t","timestamp":"#),
    ]

    @Test(arguments: times)
    func `a time that cannot be is now`(_ telling: Telling, _ place: String) throws {
        let anchor = String(place[..<(place.lastIndex(of: ",") ?? place.startIndex)])
        let body = telling.message.body.replacing(#""created_at":1763632790200"#, with: #""x":1"#)
        for time in ["0", "-1", "9223372036854775807", "1e300", "99999999999999999999", #""x""#, "null", "{}"] {
            let timed =
                anchor.isEmpty
                ? body.replacing("{\"type\"", with: "{\(place)\(time),\"type\"")
                : body.replacing(anchor, with: "\(place)\(time)")
            #expect(timed != body)
            #expect(try read(timed, of: telling).known.first?.timestamp == Scene.now, "\(time)")
        }
    }

    // MARK: - Sizes

    private static let many = (0..<300).map { "user\($0)" }

    private static func each(_ body: (String) -> String) -> String { many.map(body).joined(separator: ",") }

    static let crowds: [(Telling, String)] = [
        (
            Telling.amity,
            #"{"event":"channel.didCreate","data":{"channel":[{"channelId":"c"}],"userIds":[\#(each { #""\#($0)""# })]}}"#
        ),
        (
            .stream,
            #"{"type":"channel.created","cid":"a:b","channel":{"members":[\#(each { #"{"user_id":"\#($0)"}"# })]}}"#
        ),
        (
            .sendbird,
            #"{"category":"group_channel:create","channel":{"channel_url":"c"},"members":[\#(each { #"{"user_id":"\#($0)"}"# })]}"#
        ),
        (
            .comet,
            #"{"trigger":"group_created","data":{"group":{"guid":"c"},"members":{\#(each { #""\#($0)":{"uid":"\#($0)"}"# })}}}"#
        ),
        (
            .cloud,
            #"{"specversion":"1.0","id":"1","source":"/s","type":"channel.created","data":{"channel":{"id":"c"},"members":[\#(each { #""\#($0)""# })]}}"#
        ),
        (
            .talk,
            #"{"id":"1","type":"message.sent","data":{"sender":{"id":"user0"},"conversation":{"id":"c","participants":{\#(each { #""\#($0)":{}"# })}},"message":{"id":"m","text":"x"}}}"#
        ),
        (
            .matrix,
            #"{"events":[\#(each { #"{"event_id":"$\#($0)","room_id":"c","sender":"\#($0)","type":"m.room.member","state_key":"\#($0)","content":{"membership":"join"}}"# })]}"#
        ),
    ]

    @Test(arguments: crowds)
    func `three hundred members are members`(_ telling: Telling, _ body: String) throws {
        let members = try read(body, of: telling).known.flatMap(\.members).map(\.id.rawValue)
        #expect(members.count == 300)
        #expect(Set(members) == Set(Self.many))
    }
}

extension Telling {
    /// What bob says in the third step.
    fileprivate var message: Post { steps[2].posts[0] }
}
