import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct ToggleTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let channelDefaults = #"{"enabled":true,"mentionsOnly":false,"mutedUntil":null,"updatedAt":null}"#

    @Test func `documents that were never set are full of defaults`() async throws {
        let admin = try await network.call(.get, "notifications")
        #expect(
            admin.text == """
                {"enabled":true,"modules":{"chat":{"enabled":true},"social":{"enabled":true},\
                "video":{"enabled":true},"direct":{"enabled":true}},"events":\
                {"channel.created":{"enabled":true},"channel.invited":{"enabled":true},"member.joined":{"enabled":true},"message.sent":\
                {"enabled":true},"notification.direct":{"enabled":true}},"updatedAt":null}
                """
        )
        let user = try await network.call(.get, "users/me/notifications", as: network.token())
        #expect(user["updatedAt"] == .some(.null) && user["quietHours"] == .some(.null))
        let channel = try await network.call(.get, "users/me/channels/c/notifications", as: network.token())
        #expect(channel.text == Self.channelDefaults)
        #expect(channel.headers[.eTag] == "\"0\"")
    }

    @Test func `PUT replaces and PATCH changes what it names`() async throws {
        let path = network.path("users/me/channels/c/notifications")
        let put = try await api.call(.put, path, #"{"mentionsOnly":true}"#, as: network.token())
        #expect(put.status == 200)
        #expect(put["mentionsOnly"] == true && put["updatedAt"] == "2026-11-24T12:00:00.000Z")
        let type = "application/merge-patch+json"
        let body = #"{"mutedUntil":"2026-12-01T00:00:00+07:00"}"#
        let patched = try await api.call(.patch, path, body, as: network.token(), type: type)
        #expect(patched["mentionsOnly"] == true && patched["mutedUntil"] == "2026-11-30T17:00:00.000Z")
        let cleared = try await api.call(.patch, path, #"{"mutedUntil":null}"#, as: network.token())
        #expect(cleared["mutedUntil"] == .some(.null) && cleared["mentionsOnly"] == true)
        let replaced = try await api.call(.put, path, "{}", as: network.token())
        #expect(replaced["mentionsOnly"] == false)
        let seen = try await network.call(.get, "users/alice/channels/c/notifications")
        #expect(seen.text == replaced.text)
    }

    @Test func `DELETE puts the defaults back, once or twice, and not over a newer version`() async throws {
        for path in ["notifications", "users/bob/notifications", "users/bob/channels/c/notifications"] {
            let path = network.path(path)
            let defaults = try await network.call(.get, path).text
            #expect(try await network.call(.delete, path).status == 204)
            let put = try await network.call(.put, path, #"{"enabled":false}"#)
            let stale = try await network.call(.delete, path, headers: ["if-match": "\"0\""])
            #expect(stale.status == 412)
            let tag = try #require(put.headers[.eTag])
            let removed = try await network.call(.delete, path, headers: ["if-match": tag])
            #expect(removed.status == 204)
            #expect(try await network.call(.delete, path).status == 204)
            let shown = try await network.call(.get, path, headers: ["if-none-match": tag])
            #expect(shown.status == 200)
            #expect(shown.text == defaults)
            let again = try await network.call(.put, path, #"{"enabled":false}"#)
            #expect(again.headers[.eTag] != tag)
        }
    }

    @Test func `a user deletes their own documents and no others`() async throws {
        for path in ["notifications", "channels/c/notifications"] {
            let own = network.path("users/me/\(path)")
            _ = try await api.call(.put, own, #"{"enabled":false}"#, as: network.token())
            #expect(try await api.call(.delete, own, as: network.token()).status == 204)
            #expect(try await api.call(.get, own, as: network.token())["enabled"] == true)
            let other = network.path("users/bob/\(path)")
            let refused = try await api.call(.delete, other, as: network.token())
            #expect([403, 404].contains(refused.status))
        }
        #expect(try await network.call(.delete, "notifications", as: network.token()).status == 403)
    }

    @Test func `what GET answered can be PUT back`() async throws {
        for path in ["notifications", "users/bob/notifications", "users/bob/channels/c/notifications"] {
            let document = try await network.call(.get, path).text
            let answer = try await network.call(.put, path, document)
            #expect(answer.status == 200, "\(path)")
        }
    }

    @Test func `If-Match guards against lost changes`() async throws {
        let path = network.path("notifications")
        func write(_ tag: String) async throws -> Int {
            try await network.call(.patch, path, "{}", headers: ["if-match": tag]).status
        }
        #expect(try await write("\"0\"") == 200)
        for tag in ["\"0\"", "W/\"0\"", "W/1", "\"1-x\"", "1", "\"x\"", "", "\"2\", \"3\""] {
            #expect(try await write(tag) == 412, "\(tag)")
        }
        #expect(try await write("\"7\", \"1\"") == 200)
        // What proxies that compress make of it.
        #expect(try await write("W/\"2\"") == 200)
        #expect(try await write("\"3-gzip\"") == 200)
        #expect(try await write("W/\"4-br\"") == 200)
        #expect(try await write("*") == 200)
        let current = try await network.call(.get, path)
        #expect(current.headers[.eTag] == "\"6\"")
        let headers = ["if-match": "\"1\""]
        let failed = try await network.call(.put, path, #"{"enabled":false}"#, headers: headers)
        #expect(failed.problem == "precondition-failed")
        #expect(try await network.call(.get, path).text == current.text)
    }

    @Test(arguments: [("\"0\"", 304), ("W/\"0\"", 304), ("*", 304), ("\"1\", \"0\"", 304), ("\"1\"", 200), ("0", 200)])
    func `If-None-Match answers 304 for the known version`(tag: String, status: Int) async throws {
        let headers = ["if-none-match": tag]
        let answer = try await network.call(.get, "notifications", headers: headers)
        #expect(answer.status == status)
        #expect(answer.headers[.eTag] == "\"0\"")
        #expect(answer.headers[.cacheControl] == "private, no-cache")
        #expect(answer.bytes.isEmpty == (status == 304))
    }

    @Test(arguments: [
        ("notifications", #"{"enable":true}"#, ["/enable"]), ("notifications", #"{"enabled":"yes"}"#, ["/enabled"]),
        ("notifications", #"{"modules":{"chatt":{}}}"#, ["/modules/chatt"]),
        ("notifications", #"{"events":{"member.left":{"enabled":true}}}"#, ["/events/member.left"]),
        (
            "users/b/notifications", #"{"quietHours":{"from":"22:00","to":"22:00","timeZone":"Asia/Bangkok"}}"#,
            ["/quietHours/to"]
        ),
        (
            "users/b/notifications", #"{"quietHours":{"from":"24:00","to":"7:00","timeZone":"Bangkok"}}"#,
            ["/quietHours/from", "/quietHours/to", "/quietHours/timeZone"]
        ),
        ("users/b/notifications", #"{"modules":{"chat":{"roles":{"only":[],"except":[]}}}}"#, ["/modules/chat/roles"]),
        ("users/b/channels/c/notifications", #"{"mutedUntil":"tomorrow"}"#, ["/mutedUntil"]),
        ("users/b/channels/c/notifications", "[]", [""]),
    ])
    func `a mistyped switch is 400 with its pointer, by PUT and by PATCH`(
        path: String,
        body: String,
        pointers: [String]
    ) async throws {
        for method in [HTTPRequest.Method.put, .patch] {
            let answer = try await network.call(method, path, body)
            #expect(answer.refusal == "400 invalid-toggles")
            #expect(answer.pointers == pointers)
        }
        let after = try await network.call(.get, path)
        #expect(after["updatedAt"] == .some(.null))
    }

    @Test func `a user's channels are listed with their switches, to admins and to the user`() async throws {
        let path = network.path("users/bob/channels")
        #expect(try await network.call(.get, path).status == 404)
        for channel in ["general", "random"] {
            _ = try await network.call(.put, "channels/\(channel)/members/bob")
        }
        let muting = #"{"enabled":false}"#
        _ = try await network.call(.put, path + "/random/notifications", muting)
        let first = try await network.call(.get, path + "?limit=1")
        let cursor = try #require(first.string("next"))
        let defaults = #"{"enabled":true,"mentionsOnly":false,"mutedUntil":null,"updatedAt":null}"#
        let general = #"{"id":"general","displayName":null,"direct":false,"notifications":\#(defaults)}"#
        #expect(first.text == #"{"items":[\#(general)],"next":"\#(cursor)"}"#)
        let rest = try await network.call(.get, path + "?cursor=\(cursor)")
        #expect(rest.text.hasPrefix(#"{"items":[{"id":"random""#))
        #expect(rest.text.contains(#""notifications":{"enabled":false"#))
        #expect(try await network.call(.get, path + "?limit=0").status == 400)
        #expect(try await api.call(.get, path).status == 401)
    }
}
