import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Filters of lists (CONSOLE section 2); what they find is in the contracts of the stores.
@Suite struct SearchTests {
    @Test func `events are filtered by what the query says`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            _ = try await api.call(.post, network.path("events"), EventTests.message, as: network.adminKey)
            let renamed = #"{"id":"2","type":"user.updated","data":{"user":{"id":"bob"}}}"#
            _ = try await api.call(.post, network.path("events"), renamed, as: network.adminKey)
            let now = "2026-11-24T12:00:00Z"
            for (query, found) in [
                ("", ["2", "evt-1"]), ("?type=message.sent", ["evt-1"]), ("?channelId=general", ["evt-1"]),
                ("?userId=bob", ["2"]), ("?state=done", ["2"]), ("?state=delivering", []),
                ("?from=\(now)", ["2", "evt-1"]), ("?to=\(now)", []),
                ("?from=2026-11-24T19:00:00%2B07:00&limit=1", ["2"]),
                ("?from=2026-11-24T19:00:00+07:00&userId=alice", ["evt-1"]),
            ] as [(String, [String])] {
                let answer = try await api.call(.get, network.path("events\(query)"), as: network.adminKey)
                let items = (0..<found.count).map { answer["items", "\($0)", "sourceId"] }
                #expect(items == found.map { .string($0) }, "\(query)")
                #expect(answer["items", "\(found.count)"] == nil, "\(query)")
            }
        }
    }

    @Test(arguments: [
        "events?typ=message.sent", "events?type=message", "events?type=", "events?state=gone", "events?channelId=",
        "events?userId=..", "events?from=yesterday", "events?to=2026-11-24",
        "events?type=message.sent&type=user.updated",
        "events?from=2026-11-24T12:00:01Z&to=2026-11-24T12:00:00Z",
        "events?%74ype=message.sent", "events?cursor=AAAA", "users?q=a", "users?query=%00", "users?query=a&query=b",
        "users?cursor=eA", "users/alice/channels?after=b", "users?limit=0", "channels?Query=a", "channels?query=%ff",
        "channels?query=\(String(repeating: "a", count: 257))",
    ])
    func `a filter that says nothing known is 400`(path: String) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.get, network.path(path), as: network.adminKey)
            #expect(answer.status == 400 && answer.problem == "invalid-parameter", "\(answer.text)")
        }
    }

    @Test func `users and channels are listed and found, in pages, by admins`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            for (path, body) in [
                ("users/alice", #"{"displayName":"Zoe"}"#), ("users/bob", #"{"displayName":"Alan"}"#),
                ("users/50%25", "{}"), ("channels/general", "{}"),
            ] {
                #expect(try await api.call(.put, network.path(path), body, as: network.adminKey).status == 201)
            }
            let first = try await api.call(.get, network.path("users?query=AL&limit=1"), as: network.adminKey)
            #expect(first["items", "0", "id"] == "alice" && first["items", "1"] == nil)
            let cursor = try #require(first.string("next"))
            let second = try await api.call(
                .get,
                network.path("users?query=AL&limit=1&cursor=\(cursor)"),
                as: network.adminKey
            )
            #expect(second["items", "0", "id"] == "bob" && second["next"] == nil)
            let percent = try await api.call(.get, network.path("users?query=50%25"), as: network.adminKey)
            #expect(percent["items", "0", "id"] == "50%" && percent["items", "1"] == nil)
            let all = try await api.call(.get, network.path("users"), as: network.adminKey)
            #expect(all["items", "2", "id"] == "bob")
            let channels = try await api.call(.get, network.path("channels?query=GEN"), as: network.adminKey)
            #expect(channels.text == #"{"items":[{"id":"general","displayName":null,"direct":false}]}"#)
            #expect(try await api.call(.get, network.path("users"), as: network.token()).status == 403)
            // Of others' channels users do not even learn that there are such others.
            for (path, key, status) in [
                ("bob", network.token(), 404), ("me", network.token(), 200), ("bob", network.adminKey, 200),
            ] {
                let answer = try await api.call(.get, network.path("users/\(path)/channels"), as: key)
                #expect(answer.status == status, "\(path)")
            }
        }
    }
}
