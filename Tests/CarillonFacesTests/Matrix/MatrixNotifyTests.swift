import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import HummingbirdTesting
import Testing

@testable import CarillonFaces

/// FACES section D4: what homeservers are answered, and what is accepted.
@Suite(.stage(MatrixFace.init)) struct MatrixNotifyTests {
    private let stage: FaceStage = lent()
    private static let path = "/_matrix/push/v1/notify"

    private static func device(_ pushkey: String, app: String = "app", _ rest: String = "") -> String {
        #"{"app_id":"\#(app)","pushkey":"\#(pushkey)"\#(rest)}"#
    }

    private static func body(_ devices: String..., event: String = "$e") -> String {
        #"{"notification":{"event_id":"\#(event)","room_id":"!r:x","devices":[\#(devices.joined(separator: ","))]}}"#
    }

    private static let unreadable = [
        "", "{", "[]", "7", "{}", #"{"notification":[]}"#, #"{"notification":{}}"#, #"{"notification":{"devices":{}}}"#,
        #"{"notification":{"devices":[]}}"#, #"{"notification":{"devices":[7]}}"#,
        #"{"notification":{"devices":[{}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app"}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":7}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":""}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":"\u0000"}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":"k","data":7}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":"k","tweaks":7}]}}"#,
        #"{"notification":{"devices":[{"app_id":"app","pushkey":"k","pushkey_ts":"now"}]}}"#,
        #"{"notification":{"event_id":7,"devices":[{"app_id":"app","pushkey":"k"}]}}"#,
        #"{"notification":{"prio":1,"devices":[{"app_id":"app","pushkey":"k"}]}}"#,
        #"{"notification":{"content":"words","devices":[{"app_id":"app","pushkey":"k"}]}}"#,
        #"{"notification":{"counts":{"unread":"2"},"devices":[{"app_id":"app","pushkey":"k"}]}}"#,
        #"{"notification":{"counts":{"unread":1.5},"devices":[{"app_id":"app","pushkey":"k"}]}}"#,
    ]

    @Test func `what is no notification is refused, and nothing is stored`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        for body in Self.unreadable {
            let answer = try await stage.call(.post, Self.path, body)
            #expect(answer.status == 400, "\(body)")
            #expect(answer["errcode"] == "M_BAD_JSON", "\(body)")
            #expect(answer.headers[.contentType] == "application/json", "\(body)")
            #expect(stage.stub.accepted.isEmpty, "\(body)")
        }
    }

    @Test func `limits are told in Matrix's words`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        let devices = (0..<101).map { Self.device("k\($0)") }
        let tooMany = #"{"notification":{"event_id":"$e","devices":[\#(devices.joined(separator: ","))]}}"#
        #expect(try await stage.call(.post, Self.path, tooMany).status == 400)
        let longKey = Self.body(Self.device(String(repeating: "k", count: 513)))
        #expect(try await stage.call(.post, Self.path, longKey).status == 400)
        let padding = String(repeating: " ", count: 128 * 1024)
        let large = try await stage.call(.post, Self.path, Self.body(Self.device("k")) + padding)
        #expect(large.status == 413)
        #expect(large["errcode"] == "M_TOO_LARGE")
        let whole = Self.body(Self.device("k"))
        let exact = whole + String(repeating: " ", count: 128 * 1024 - whole.utf8.count)
        #expect(try await stage.call(.post, Self.path, exact).status == 200)
        let get = try await stage.call(.get, Self.path)
        #expect(get.status == 405)
        #expect(get["errcode"] == "M_UNRECOGNIZED")
        #expect(get.headers[.allow] == "POST")
        let other = try await stage.call(.post, "/_matrix/push/v1/other", "{}")
        #expect(other.status == 404)
        #expect(other["errcode"] == "M_NOT_FOUND")
    }

    @Test func `a hundred devices are accepted by one call, each recognised by itself`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        let devices = (0..<100).map { Self.device("k\($0)") }
        let body = #"{"notification":{"event_id":"$e","devices":[\#(devices.joined(separator: ","))]}}"#
        #expect(try await stage.call(.post, Self.path + "?access=1", body)["rejected"] == [])
        #expect(stage.stub.calls == 1)
        #expect(stage.stub.accepted.count == 100)
        #expect(try await stage.call(.post, Self.path, body).status == 200)
        #expect(stage.stub.accepted.count == 100, "a repeated notification is no second one")
    }

    @Test func `nobody's app is not found, and no pushkey is rejected for it`() async throws {
        let none = try await stage.call(.post, Self.path, Self.body(Self.device("k")))
        #expect(none.status == 404)
        #expect(none["errcode"] == "M_NOT_FOUND")
        try stage.bind("app", #"{"provider":"fcm"}"#)
        let unbound = try await stage.call(.post, Self.path, Self.body(Self.device("k", app: "other")))
        #expect(unbound.status == 404)
        #expect(unbound["errcode"] == "M_NOT_FOUND")
        let mixed = Self.body(Self.device("k"), Self.device("l", app: "other"))
        let answer = try await stage.call(.post, Self.path, mixed)
        #expect(answer.status == 200)
        #expect(answer["rejected"] == [])
        #expect(stage.stub.accepted.count == 1)
        let entries = try await stage.journal.entries(of: "faces/matrix", in: "acme")
        #expect(entries.first?.note.reason == "some of the apps are not bound")
    }

    @Test func `the longest pattern counts, and the exact name before all`() async throws {
        try stage.bind("org.*", #"{"provider":"fcm","appId":"wide"}"#)
        try stage.bind("org.app.*", #"{"provider":"fcm","appId":"narrow"}"#)
        try stage.bind("org.app.ios", #"{"provider":"fcm","appId":"exact"}"#)
        for app in ["org.else", "org.app.web", "org.app.ios"] {
            _ = try await stage.call(.post, Self.path, Self.body(Self.device("k", app: app)))
        }
        #expect(stage.stub.accepted.map { Self.address(of: $0)?.appID } == ["wide", "narrow", "exact"])
    }

    @Test func `a retired app's pushkeys are rejected, each once`() async throws {
        try stage.bind("app", #"{"provider":"fcm","retired":true}"#)
        let body = Self.body(Self.device("k"), Self.device("l"), Self.device("k"))
        #expect(try await stage.call(.post, Self.path, body)["rejected"] == ["k", "l"])
        #expect(stage.stub.accepted.isEmpty)
    }

    @Test func `apps under a gateway key are their network's alone`() async throws {
        try stage.bind("mine", #"{"provider":"fcm","gatewayKeyRequired":true}"#)
        try stage.bind("mine", #"{"provider":"apns","gatewayKeyRequired":true}"#, to: "other")
        try stage.bind("open", #"{"provider":"fcm"}"#)
        let secret = try #require(try stage.makeKey(#"{"rights":["any"]}"#)["secret"])
        guard case .string(let key) = secret else { return }
        #expect(key.hasPrefix("gk_"))
        guard case .string(let strangers)? = try stage.makeKey(of: "other")["secret"] else { return }
        let body = Self.body(Self.device("k", app: "mine"))
        let without = try await stage.call(.post, Self.path, body)
        #expect(without.status == 401)
        #expect(without["errcode"] == "M_UNAUTHORIZED")
        #expect(try await stage.call(.post, Self.path + "?k=gk_wrong", body).status == 401)
        #expect(try await stage.call(.post, Self.path + "?k=\(key)", body).status == 200)
        let open = Self.body(Self.device("k", app: "open"))
        #expect(try await stage.call(.post, Self.path + "?k=\(key)", open).status == 200)
        #expect(try await stage.call(.post, Self.path, open).status == 200)
        #expect(try await stage.call(.post, Self.path + "?k=\(strangers)", open).status == 404)
        let token = Self.body(Self.device("AQID", app: "mine"))
        #expect(try await stage.call(.post, Self.path + "?k=\(strangers)", token).status == 200)
        #expect(stage.stub.accepted.last.flatMap(Self.address(of:))?.provider == .apns)
        let both = Self.body(Self.device("n", app: "mine"), Self.device("n", app: "open"))
        #expect(try await stage.call(.post, Self.path, both)["rejected"] == [])
    }

    @Test func `notifications come from where they may`() async throws {
        try await withStage(MatrixFace.init) { stage in
            try stage.bind("app", #"{"provider":"fcm","allowFrom":["203.0.113.0/24"]}"#)
            // Without a connection there is no address, which is none of those.
            let answer = try await stage.call(.post, Self.path, Self.body(Self.device("k")))
            #expect(answer.status == 403)
            #expect(answer["errcode"] == "M_FORBIDDEN")
        }
        var binding = MatrixBinding(provider: .fcm)
        binding.allowedSources = [try CIDRBlock("203.0.113.0/24")]
        #expect(binding.admits(IPAddress("203.0.113.9")))
        #expect(binding.admits(IPAddress("::ffff:203.0.113.9")))
        #expect(!binding.admits(IPAddress("203.0.114.9")))
    }

    @Test func `a default payload that is none is passed over`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        let body = Self.body(Self.device("k", #","data":{"default_payload":[1]}"#))
        #expect(try await stage.call(.post, Self.path, body)["rejected"] == [])
        #expect(stage.stub.accepted.count == 1)
    }

    @Test func `too many pushes to one pushkey, or of one network, have to wait`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        for number in 0..<60 {
            let answer = try await stage.call(.post, Self.path, Self.body(Self.device("k"), event: "$\(number)"))
            #expect(answer.status == 200)
        }
        let answer = try await stage.call(.post, Self.path, Self.body(Self.device("k"), event: "$60"))
        #expect(answer.status == 429)
        #expect(answer["errcode"] == "M_LIMIT_EXCEEDED")
        #expect(answer["retry_after_ms"] == 1_000)
        #expect(answer.headers[.retryAfter] == "1")
        #expect(try await stage.call(.post, Self.path, Self.body(Self.device("l"))).status == 200)
        try await stage.advance(by: .milliseconds(100))
        #expect(try await stage.call(.post, Self.path, Self.body(Self.device("k"), event: "$60")).status == 200)
    }

    @Test func `app ids that one pattern stands for share what may be new of it`() async throws {
        try stage.bind("com.acme.*", #"{"provider":"fcm"}"#)
        try stage.bind("com.acme.exact", #"{"provider":"fcm"}"#)
        let burst = RequestRates.Rate.newOfApp.burst
        try stage.rates.take(burst, of: .newOfApp, at: .matrix, about: "com.acme.*", in: "acme")
        for app in ["com.acme.a", "com.acme.b"] {
            #expect(try await stage.call(.post, Self.path, Self.body(Self.device("k", app: app))).status == 429)
        }
        let other = Self.body(Self.device("k", app: "com.acme.exact"))
        #expect(try await stage.call(.post, Self.path, other).status == 200)
    }

    @Test func `fifty strangers' addresses do not use up what a homeserver needs`() async throws {
        try await withStage(MatrixFace.init, over: .live) { stage in
            try stage.bind("app", #"{"provider":"fcm"}"#)
            func post(from address: String, _ pushkey: String) async throws -> Int {
                let body = Self.body(Self.device(pushkey), event: "$\(pushkey)")
                return try await stage.call(.post, Self.path, body, headers: ["x-forwarded-for": address]).status
            }
            // All that the app has, as fifty addresses take it together, and nearly all that each gets beyond that.
            try stage.rates.take(RequestRates.Rate.newOfApp.burst, of: .newOfApp, at: .matrix, about: "app", in: "acme")
            let rest = RequestRates.Rate.fewNewFromAddress.burst - 1
            try stage.rates.take(50 * rest, of: .fewNewOfApp, at: .matrix, about: "app", in: "acme")
            for stranger in 1...50 {
                let address = "198.51.100.\(stranger)"
                let parsed = try #require(IPAddress(address))
                try stage.rates.take(rest, of: .fewNewFromAddress, at: .matrix, from: parsed)
                #expect(try await post(from: address, "last-\(stranger)") == 200)
                #expect(try await post(from: address, "more-\(stranger)") == 429)
            }
            for number in 0..<20 { #expect(try await post(from: "203.0.113.9", "home-\(number)") == 200) }
        }
    }

    @Test func `who has a gateway key has the binding's rate, and no limit of new pushkeys`() async throws {
        try stage.bind("mine", #"{"provider":"fcm","gatewayKeyRequired":true,"requestsPerSecond":1}"#)
        guard case .string(let key)? = try stage.makeKey()["secret"] else { return }
        let burst = RequestRates.Rate.newOfApp.burst
        try stage.rates.take(burst, of: .newOfApp, at: .matrix, about: "mine", in: "acme")
        func post(_ number: Int) async throws -> Int {
            let body = Self.body(Self.device("k\(number)", app: "mine"))
            return try await stage.call(.post, Self.path + "?k=\(key)", body).status
        }
        for number in 0..<10 { #expect(try await post(number) == 200) }
        #expect(try await post(10) == 429)
        try await stage.advance(by: .seconds(1))
        #expect(try await post(10) == 200)
    }

    @Test func `strangers use up nothing of the network's own rate`() async throws {
        var limited = Network(id: "acme", createdAt: FaceStage.now)
        limited.limits.eventsPerSecond = 1
        try await withStage(MatrixFace.init, networks: [limited]) { [network = limited] stage in
            try stage.bind("open", #"{"provider":"fcm"}"#)
            try stage.bind("mine", #"{"provider":"fcm","gatewayKeyRequired":true}"#)
            guard case .string(let key)? = try stage.makeKey()["secret"] else { return }
            func post(_ number: Int, _ app: String, _ query: String = "") async throws -> Int {
                let body = Self.body(Self.device("k\(number)", app: app), event: "$\(number)")
                return try await stage.call(.post, Self.path + query, body).status
            }
            // What comes at once is ten seconds' worth.
            for number in 0..<10 { #expect(try await post(number, "open") == 200) }
            #expect(try await post(10, "open") == 429)
            #expect(stage.rates.wait(counting: 9, of: network) == nil)
            #expect(try await post(11, "mine", "?k=\(key)") == 200)
            #expect(try await post(12, "mine", "?k=\(key)") == 429, "known callers' are the network's")
        }
    }

    @Test func `a network knows its caller by a gateway key, or by where they are`() throws {
        func selection(_ settings: String, isPrivate: Bool = false, _ caller: MatrixCaller) throws -> MatrixSelection {
            guard case .object(let settings) = try JSONValue(parsing: Array(settings.utf8)) else { throw Busy() }
            let binding = FaceBinding(.matrix, "app", isPrivate: isPrivate, settings, at: FaceStage.now)
            let index = FaceIndex(FaceList(version: 1, bindings: [binding], keys: []))
            let notification = try MatrixNotification(body: Array(Self.body(Self.device("k")).utf8))
            return try MatrixSelection(notification, caller, FaceLookup(index))
        }
        let here = MatrixCaller(keyOwner: nil, address: IPAddress("203.0.113.9"))
        let keyed = MatrixCaller(keyOwner: "acme", address: here.address)
        let open = #"{"provider":"fcm"}"#
        let allowed = #"{"provider":"fcm","allowFrom":["203.0.113.0/24"]}"#
        #expect(try selection(open, here).isOfStranger)
        #expect(try !selection(allowed, here).isOfStranger)
        #expect(try !selection(open, keyed).isOfStranger)
        #expect(try !selection(open, isPrivate: true, keyed).isOfStranger)
        #expect(try selection(allowed, MatrixCaller(keyOwner: nil, address: IPAddress("203.0.114.9"))).isOfStranger)
    }

    @Test func `whoever may be expected by any network's word counts as a stranger until they are known`() async throws
    {
        try await withStage(MatrixFace.init, over: .live) { stage in
            try stage.bind("app", #"{"provider":"fcm","allowFrom":["127.0.0.0/8","::1/128"]}"#)
            try stage.bind("anybody's", #"{"provider":"fcm","allowFrom":["0.0.0.0/0","::/0"]}"#, to: "other")
            try stage.bind("open", #"{"provider":"fcm"}"#)
            let addresses = try ["127.0.0.1", "::1"].map { try #require(IPAddress($0)) }
            for address in addresses {
                try stage.rates.take(RequestRates.Rate.requests.burst - 1, of: .requests, at: .matrix, from: address)
            }
            func post(_ app: String, _ event: String) async throws -> Int {
                try await stage.call(.post, Self.path, Self.body(Self.device("k", app: app), event: event)).status
            }
            for number in 0..<3 { #expect(try await post("app", "$\(number)") == 200, "it is given back") }
            #expect(try await post("open", "$open") == 200)
            #expect(try await stage.call(.post, Self.path, "{").status == 429, "before the body is looked at")
        }
    }

    @Test func `an app id is looked for once, and few that are not bound among those under a key`() throws {
        func selection(_ apps: [String]) throws -> MatrixSelection {
            let bindings = ["mine*x", "other"].map { name in
                FaceBinding(.matrix, name, isPrivate: true, at: FaceStage.now)
            }
            let index = FaceIndex(FaceList(version: 1, bindings: bindings, keys: []))
            let devices = apps.map { #"{"app_id":"\#($0)","pushkey":"k"}"# }.joined(separator: ",")
            let notification = try MatrixNotification(body: Array(#"{"notification":{"devices":[\#(devices)]}}"#.utf8))
            return try MatrixSelection(notification, MatrixCaller(keyOwner: nil, address: nil), FaceLookup(index))
        }
        let repeated = try selection(["a", "a", "a", "a", "a", "mine.x", "mine.x", "other"])
        #expect(repeated.skipped == [.unbound: 5, .withoutKey: 3])
        let many = try selection(["a", "b", "c", "d", "mine.x", "a"])
        #expect(many.skipped == [.unbound: 6])
    }

    @Test func `a pattern has at most four wildcards`() async throws {
        let said = #"{"provider":"fcm"}"#
        let (four, five) = (try stage.settings(of: "a?*.?*", said), try stage.settings(of: "a?*.?*?", said))
        #expect(four.wrong.isEmpty)
        #expect(five.wrong.map(\.pointer) == ["/externalId"])
    }

    @Test func `a binding's rate has bounds, and is two thousand a second`() async throws {
        let usual = try stage.settings(of: "app", #"{"provider":"fcm"}"#)
        #expect(usual.settings?.document["requestsPerSecond"] == 2_000)
        for rate in ["0", "-1", "100001", "1.5", #""many""#] {
            let read = try stage.settings(of: "app", #"{"provider":"fcm","requestsPerSecond":\#(rate)}"#)
            #expect(read.wrong.map(\.pointer) == ["/requestsPerSecond"])
        }
    }

    @Test func `what cannot be stored is told as such`() async throws {
        try stage.bind("app", #"{"provider":"fcm"}"#)
        stage.stub.fail(with: Busy())
        let answer = try await stage.call(.post, Self.path, Self.body(Self.device("k")))
        #expect(answer.status == 503)
        #expect(answer["errcode"] == "M_UNKNOWN")
        #expect(answer.headers[.retryAfter] == "1")
        stage.stub.fail(with: nil)
        #expect(try await stage.call(.post, Self.path, Self.body(Self.device("k"))).status == 200)
    }

    private static func address(of event: ParsedEvent) -> DeviceAddress? {
        guard case .known(let event) = event.content, case .addresses(let devices)? = event.direct?.audience else {
            return nil
        }
        return devices.first?.address
    }
}

/// Too much waits.
private struct Busy: TransientError {
    var isTransient: Bool { true }
}
