import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct NotificationParserTests {
    private static let now = Timestamp(milliseconds: 1_795_168_800_000)
    private let parser = NotificationParser(
        clock: WallClock { now },
        addresses: DeviceAddressReader(egress: EgressGuard(), webPushHosts: WebPushHosts())
    )

    private func parse(_ text: String) throws -> ParsedBody {
        try parser.parse(body: Array(text.utf8)) { $0.map { "made-\($0)" } ?? "made" }
    }

    private func event(_ text: String) throws -> Event {
        guard case .single(let parsed) = try parse(text), case .known(let event) = parsed.content else {
            throw InvalidInput(problem: "no single notification", errors: [])
        }
        return event
    }

    /// The event as it is read from the inbox.
    private func stored(_ event: Event) -> StoredEvent {
        StoredEvent(
            body: event.canonicalJSON.serialized,
            sourceID: event.sourceID,
            receivedAt: Self.now,
            occurredAt: Self.now
        )
    }

    /// Everything that can be said.
    private static let full = #"""
        {"id":"n-1","to":{"userIds":["alice","bob"]},
         "filter":{"providers":["apns","fcm"],"appIds":["com.acme.chat"],"tag":"beta"},
         "kind":"alert","title":"Build 81 failed","body":"main: 3 tests",
         "texts":{"th":{"title":"ไทย","body":"…"},"pt-br":{"body":"pt"}},
         "channelId":"builds","actorId":"ci","module":"social","data":{"build":"81"},
         "badge":3,"sound":"ding","category":"BUILD","threadId":"builds","collapseKey":"build-81",
         "imageUrl":"https://example.com/i.png","priority":"high","ttlSeconds":3600,"retry":false,"envelope":false,
         "apns":{"kind":"mixed","headers":{"apns-priority":"5"},"payload":{"aps":{"mutable-content":1}},"replace":false},
         "fcm":{"kind":"silent","message":{"android":{"notification":{"channel_id":"builds"}}}},
         "webpush":{"headers":{"Urgency":"low"},"payload":{"icon":"/i.png"}}}
        """#

    @Test func `everything that can be said is read, and reads the same from the inbox`() throws {
        let event = try event(Self.full)
        #expect(event.sourceID == "n-1")
        #expect(event.type == .notificationDirect)
        #expect(event.channel == Channel(id: "builds"))
        #expect(event.actor == Person(id: "ci"))
        #expect(event.mentions == ["alice", "bob"])
        let direct = try #require(event.direct)
        #expect(direct.audience == .people(["alice", "bob"]))
        #expect(direct.filter == DeviceFilter(providers: [.apns, .fcm], appIDs: ["com.acme.chat"], tag: "beta"))
        #expect(direct.texts.text == DirectTexts.Text(title: "Build 81 failed", body: "main: 3 tests"))
        #expect(direct.texts.byLocale.count == 2)
        #expect(direct.texts.byLocale[try #require(LocaleTag("pt-BR"))] == DirectTexts.Text(body: "pt"))
        #expect(direct.module == .social)
        #expect(direct.content.badge == 3)
        #expect(direct.content.parts[.webpush]?.headers == ["urgency": "low"])
        #expect(stored(event) == .event(event))
    }

    @Test(arguments: [
        #"{"to":{"deviceIds":["d1","d2","d1"]},"body":"x"}"#,
        #"{"to":{"channelId":"general"},"title":"x"}"#,
        #"{"to":{"channelId":"general"},"channelId":"other","title":"x"}"#,
        #"{"to":{"tags":["a","b"]},"kind":"silent","data":{"a":1}}"#,
        #"{"to":{"everyone":true},"texts":{"en":{"title":"x"}}}"#,
        #"{"to":{"everyone":true},"apns":{"payload":{"aps":{"badge":1}},"replace":true}}"#,
        #"{"to":{"everyone":true},"apns":{"payload":{"aps":{"alert":{"loc-key":"K"}}}}}"#,
        #"{"to":{"everyone":true},"fcm":{"message":{"android":{"notification":{"tag":"t"}}}}}"#,
        #"{"to":{"everyone":true},"fcm":{"message":{"data":{"x":"1"}},"replace":true}}"#,
        #"{"to":{"everyone":true},"webpush":{"payload":{"notification":{"icon":"i"}}}}"#,
        #"{"to":{"everyone":true},"kind":"silent","fcm":{"message":{"data":{"x":"1"}}}}"#,
        #"""
        {"to":{"addresses":[{"provider":"fcm","appId":"a","token":"t","locale":"th","broadcasts":true},
         {"provider":"apns","appId":"a","token":"AB","environment":"sandbox"},{"provider":"log"},
         {"provider":"webhook","url":"https://example.com/x"}]},"sound":null,"body":"x"}
        """#,
        #"{"to":{"userIds":["a"]},"title":"","body":"x","filter":{},"kind":"mixed"}"#,
    ])
    func `whatever is accepted reads the same from the inbox`(body: String) throws {
        let event = try event(body)
        #expect(stored(event) == .event(event))
    }

    @Test func `a channel that is told is the context, unless another one is named`() throws {
        #expect(try event(#"{"to":{"channelId":"c"},"body":"x"}"#).channel?.id == "c")
        #expect(try event(#"{"to":{"channelId":"c"},"channelId":"d","body":"x"}"#).channel?.id == "d")
        #expect(try event(#"{"to":{"everyone":true},"body":"x"}"#).channel == nil)
    }

    @Test func `what is null is not there`() throws {
        let event = try event(#"{"to":{"userIds":["a"],"tags":null,"everyone":null},"title":"x","body":null}"#)
        #expect(event.direct?.audience == .people(["a"]))
    }

    @Test func `words of which nothing can be seen are none, and what was accepted with them before stays readable`()
        throws
    {
        let event = try event(#"{"to":{"everyone":true},"title":" \u202e ","body":"x"}"#)
        #expect(event.direct?.texts.text == DirectTexts.Text(body: "x"))
        for invisible in ["200b", "2060", "00ad", "200d", "3164", "fe0f"] {
            let event = try self.event(#"{"to":{"everyone":true},"title":"\u\#(invisible)","body":"x"}"#)
            #expect(event.direct?.texts.text == DirectTexts.Text(body: "x"), "U+\(invisible)")
        }
        var former = event
        former.direct = DirectNotification(to: .everyone, texts: DirectTexts(DirectTexts.Text(title: "  ")))
        #expect(stored(former) == .event(former))
    }

    @Test func `what was accepted before it had to show something stays readable`() throws {
        var former = try event(#"{"to":{"everyone":true},"body":"x"}"#)
        let part = RawPart(payload: ["data": ["x": "1"]])
        former.direct = DirectNotification(to: .everyone, content: PushContent(parts: [.fcm: part]))
        #expect(stored(former) == .event(former))
    }

    @Test func `a notification without an id is named by the caller`() throws {
        guard
            case .batch(let batch) = try parse(
                #"[{"to":{"everyone":true},"body":"x"},{"to":{"everyone":true},"id":"own","body":"y"}]"#
            )
        else { throw InvalidInput(problem: "no array", errors: []) }
        #expect(batch.map(\.sourceID) == ["made-0", "own"])
        #expect(try event(#"{"to":{"everyone":true},"body":"x"}"#).sourceID == "made")
    }

    @Test(arguments: [
        (#"{"body":"x"}"#, ["/to"]),
        (#"{"to":{},"body":"x"}"#, ["/to"]),
        (#"{"to":{"userIds":["a"],"everyone":true},"body":"x"}"#, ["/to"]),
        (#"{"to":{"userIds":[]},"body":"x"}"#, ["/to/userIds"]),
        (#"{"to":{"userIds":["me"]},"body":"x"}"#, ["/to/userIds/0"]),
        (#"{"to":{"deviceIds":["a",1]},"body":"x"}"#, ["/to/deviceIds/1"]),
        (#"{"to":{"tags":[""]},"body":"x"}"#, ["/to/tags/0"]),
        (#"{"to":{"everyone":false},"body":"x"}"#, ["/to/everyone"]),
        (#"{"to":{"users":["a"]},"body":"x"}"#, ["/to"]),
        (#"{"to":{"everyone":true,"users":["a"]},"body":"x"}"#, ["/to/users"]),
        (#"{"to":{"addresses":[{"provider":"fcm","appId":"a"}]},"body":"x"}"#, ["/to/addresses/0/token"]),
        (#"{"to":{"addresses":[{"provider":"log","userId":"a"}]},"body":"x"}"#, ["/to/addresses/0/userId"]),
        (
            #"{"to":{"addresses":[{"provider":"webhook","url":"http://10.0.0.1/"}]},"body":"x"}"#,
            ["/to/addresses/0/url"]
        ),
        (#"{"to":{"everyone":true},"filter":{"providers":["apns","pager"]},"body":"x"}"#, ["/filter/providers/1"]),
        (#"{"to":{"everyone":true},"filter":{"providers":[]},"body":"x"}"#, ["/filter/providers"]),
        (#"{"to":{"everyone":true},"filter":{"appIds":[]},"body":"x"}"#, ["/filter/appIds"]),
        (#"{"to":{"everyone":true},"filter":{"apps":["a"]},"body":"x"}"#, ["/filter/apps"]),
        (#"{"to":{"everyone":true}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"title":"","body":""}"#, ["/title"]),
        (#"{"to":{"everyone":true},"fcm":{"message":{"data":{"x":"1"}}}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"fcm":{"message":{"notification":null}}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"apns":{"payload":{"x":1}}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"apns":{"payload":{"x":1},"replace":true}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"apns":{"kind":"silent","payload":{"aps":{"alert":"a"}}}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"webpush":{"headers":{"Urgency":"low"},"payload":{"icon":"i"}}}"#, ["/title"]),
        (#"{"to":{"everyone":true},"title":"\u202e\u0007"}"#, ["/title"]),
        (#"{"to":{"everyone":true},"title":"  ","body":"\n\u0085","kind":"mixed"}"#, ["/title"]),
        (#"{"to":{"everyone":true},"texts":{"th":{"title":"\u2067 \u2069"}}}"#, ["/texts/th"]),
        (#"{"to":{"everyone":true},"title":1}"#, ["/title"]),
        (#"{"to":{"everyone":true},"texts":{"th":{}}}"#, ["/texts/th"]),
        (#"{"to":{"everyone":true},"texts":{"thai!":{"title":"x"}}}"#, ["/texts/thai!"]),
        (#"{"to":{"everyone":true},"texts":{"th":{"titel":"x"}},"body":"y"}"#, ["/texts/th/titel", "/texts/th"]),
        (#"{"to":{"everyone":true},"texts":{"th":{"title":"x"},"TH":{"title":"y"}}}"#, ["/texts/TH"]),
        (
            #"{"to":{"everyone":true},"kind":"silent","title":"x","body":"y","badge":1,"sound":"a","category":"c","texts":{"en":{"body":"z"}}}"#,
            ["/title", "/body", "/texts", "/badge", "/sound", "/category"]
        ),
        (#"{"to":{"everyone":true},"kind":"loud","body":"x"}"#, ["/kind"]),
        (#"{"to":{"everyone":true},"module":"news","body":"x"}"#, ["/module"]),
        (#"{"to":{"everyone":true},"body":"x","data":{"aps":{}}}"#, ["/data/aps"]),
        (#"{"to":{"everyone":true},"body":"x","data":{"google.x":1,"gcm":2}}"#, ["/data/google.x", "/data/gcm"]),
        (#"{"to":{"everyone":true},"body":"x","badge":100000}"#, ["/badge"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"i.png"}"#, ["/imageUrl"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"//example.com/i.png"}"#, ["/imageUrl"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"ftp://example.com/i.png"}"#, ["/imageUrl"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"javascript:alert(1)"}"#, ["/imageUrl"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"https://"}"#, ["/imageUrl"]),
        (#"{"to":{"everyone":true},"body":"x","imageUrl":"https://example.com/a b"}"#, ["/imageUrl"]),
        (
            #"[{"to":{"everyone":true},"body":"x","imageUrl":"http://10.0.0.1/i"},{"to":{"everyone":true},"body":"x","imageUrl":"x"}]"#,
            ["/1/imageUrl"]
        ),
        (#"{"to":{"everyone":true},"body":"x","ttlSeconds":2419201}"#, ["/ttlSeconds"]),
        (#"{"to":{"everyone":true},"body":"x","apns":{"headers":{"apns-id":"1"}}}"#, ["/apns/headers/apns-id"]),
        (
            #"{"to":{"everyone":true},"body":"x","apns":{"headers":{"apns-expiration":"4294967296"}}}"#,
            ["/apns/headers/apns-expiration"]
        ),
        (
            #"{"to":{"everyone":true},"body":"x","apns":{"headers":{"apns-priority":"7"}}}"#,
            ["/apns/headers/apns-priority"]
        ),
        (#"{"to":{"everyone":true},"body":"x","webpush":{"headers":{"TTL":"soon"}}}"#, ["/webpush/headers/TTL"]),
        (#"{"to":{"everyone":true},"body":"x","webpush":{"headers":{"Topic":"a b"}}}"#, ["/webpush/headers/Topic"]),
        (#"{"to":{"everyone":true},"body":"x","fcm":{"message":{"token":"t"}}}"#, ["/fcm/message/token"]),
        (#"{"to":{"everyone":true},"body":"x","fcm":{"headers":{}}}"#, ["/fcm/headers"]),
        (#"{"to":{"everyone":true},"body":"x","apns":{"replace":true}}"#, ["/apns/payload"]),
        (#"{"to":{"everyone":true},"body":"x","apns":{"payload":{"a":{"$text":"titel"}}}}"#, ["/apns/payload/a"]),
        (#"{"to":{"everyone":true},"body":"x","titel":"y"}"#, ["/titel"]),
        (#"{"to":{"everyone":true},"body":"x","id":""}"#, ["/id"]),
        (#"[{"to":{"everyone":true},"body":"x"},{"to":{"everyone":true}}]"#, ["/1/title"]),
        (#"[]"#, [""]),
        (#""x""#, [""]),
    ])
    func `a mistake is refused with its place`(body: String, pointers: [String]) throws {
        let error = #expect(throws: InvalidInput.self) { try parse(body) }
        #expect(error?.problem == "invalid-notification")
        #expect(error?.errors.map(\.pointer) == pointers)
    }

    @Test func `data and a raw part together have a limit, and the sizes are told`() throws {
        let text = String(repeating: "x", count: 1_600)
        let body = #"{"to":{"everyone":true},"body":"x","data":{"a":"\#(text)"},"apns":{"payload":{"b":"\#(text)"}}}"#
        let error = #expect(throws: InvalidInput.self) { try parse(body) }
        #expect(error?.errors.map(\.pointer) == ["/apns"])
        #expect(error?.errors.first?.detail.contains("1608") == true, "\(String(describing: error))")
    }

    @Test(arguments: [("userIds", 1_001), ("deviceIds", 1_001), ("tags", 21)])
    func `an audience has a limit`(key: String, count: Int) throws {
        func body(_ count: Int) -> String {
            let ids = (0..<count).map { #""id-\#($0)""# }.joined(separator: ",")
            return #"{"to":{"\#(key)":[\#(ids)]},"body":"x"}"#
        }
        let error = #expect(throws: InvalidInput.self) { try parse(body(count)) }
        #expect(error?.errors.map(\.pointer) == ["/to/\(key)"])
        #expect(throws: Never.self) { try parse(body(count - 1)) }
    }

    @Test func `among posted events a direct notification is a type like any other that is unknown`() throws {
        let body = #"{"id":"e","type":"notification.direct","data":{"to":{"everyone":true},"body":"x"}}"#
        let parsed = try EventParser(clock: .system).parse(body: Array(body.utf8), fallbackSourceID: nil)
        guard case .single(let event) = parsed else { throw InvalidInput(problem: "no event", errors: []) }
        #expect(event.content == .ignored(type: "notification.direct"))
    }
}
