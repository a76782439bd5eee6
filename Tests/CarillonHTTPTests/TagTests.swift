import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Tags and subscriptions (FACES section B2).
@Suite(.acme) struct TagTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test func `a tag is declared, shown, listed and removed`() async throws {
        let path = network.path("tags/beta")
        #expect(try await network.call(.get, path).status == 404)
        let body = #"{"description":"Early birds","selfService":true}"#
        let created = try await network.call(.put, path, body)
        #expect(created.status == 201)
        #expect(
            created.text == """
                {"id":"beta","description":"Early birds","selfService":true,\
                "createdAt":"2026-11-24T12:00:00.000Z","updatedAt":"2026-11-24T12:00:00.000Z"}
                """
        )
        try await api.database.advance(by: .seconds(60))
        let replaced = try await network.call(.put, path, "{}")
        #expect(replaced.status == 200)
        #expect(replaced["description"] == .some(.null) && replaced["selfService"] == false)
        #expect(replaced.string("createdAt") == created.string("createdAt"))
        #expect(replaced.string("updatedAt") == "2026-11-24T12:01:00.000Z")
        #expect(try await network.call(.get, path).text == replaced.text)
        let list = try await network.call(.get, "tags")
        #expect(list.text == #"{"items":[\#(replaced.text)]}"#)
        for _ in 1...2 { #expect(try await network.call(.delete, path).status == 204) }
        #expect(try await network.call(.get, "tags").text == #"{"items":[]}"#)
    }

    @Test func `users and devices subscribe and are listed in pages`() async throws {
        let admin = network.adminKey
        try await addDevice("d-1", of: "alice", network, api)
        for subscriber in ["users/bob", "users/alice", "devices/d-1"] {
            let path = network.path("tags/beta/\(subscriber)")
            for _ in 1...2 { #expect(try await api.call(.put, path, as: admin).status == 204) }
        }
        let subscribers = network.path("tags/beta/subscribers")
        let first = try await api.call(.get, "\(subscribers)?limit=2", as: admin)
        let next = try #require(first.string("next"))
        #expect(first.text == #"{"items":[{"deviceId":"d-1"},{"userId":"alice"}],"next":"\#(next)"}"#)
        let rest = try await api.call(.get, "\(subscribers)?cursor=\(next)", as: admin)
        #expect(rest.text == #"{"items":[{"userId":"bob"}]}"#)
        // `alice`, and `user:` with U+0000 behind it.
        for cursor in ["YWxpY2U", "dXNlcjoA"] {
            let unread = try await api.call(.get, "\(subscribers)?cursor=\(cursor)", as: admin)
            #expect(unread.problem == "invalid-parameter")
        }
        #expect(try await network.call(.get, "api-keys?cursor=AA").problem == "invalid-parameter")
        for path in ["users/alice/tags", "devices/d-1/tags"] {
            #expect(try await network.call(.get, path, as: admin).text == #"{"items":[{"tag":"beta"}]}"#)
        }
        for path in ["users/nobody/tags", "devices/none/tags"] {
            #expect(try await network.call(.get, path, as: admin).status == 404)
        }
        for subscriber in ["users/alice", "devices/d-1", "users/nobody", "devices/none"] {
            let path = network.path("tags/beta/\(subscriber)")
            for _ in 1...2 { #expect(try await api.call(.delete, path, as: admin).status == 204) }
        }
        #expect(try await api.call(.get, subscribers, as: admin).text == #"{"items":[{"userId":"bob"}]}"#)
        let none = try await network.call(.get, "tags/unheard-of/subscribers", as: admin)
        #expect(none.text == #"{"items":[]}"#)
    }

    @Test func `an unknown device does not subscribe, and one called restore does`() async throws {
        let unknown = try await network.call(.put, "tags/beta/devices/none")
        #expect(unknown.status == 404)
        try await addDevice("restore", of: "alice", network, api)
        let path = network.path("tags/beta/devices/restore")
        #expect(try await network.call(.put, path).status == 204)
        let tags = try await network.call(.get, "devices/restore/tags")
        #expect(tags.text == #"{"items":[{"tag":"beta"}]}"#)
    }

    @Test func `users subscribe themselves and their devices to self-service tags, and see no others`() async throws {
        let (admin, alice) = (network.adminKey, network.token())
        try await addDevice("d-1", of: "alice", network, api)
        try await addDevice("d-2", of: "bob", network, api)
        for tag in ["open", "closed"] {
            let body = #"{"selfService":\#(tag == "open")}"#
            _ = try await network.call(.put, "tags/\(tag)", body, as: admin)
        }
        for path in ["users/me", "users/alice", "devices/d-1"] {
            let open = network.path("tags/open/\(path)")
            #expect(try await api.call(.put, open, as: alice).status == 204)
            for tag in ["closed", "undeclared"] {
                for method in [.put, .delete] as [HTTPRequest.Method] {
                    let answer = try await network.call(method, "tags/\(tag)/\(path)", as: alice)
                    #expect(answer.status == 403)
                }
            }
        }
        _ = try await network.call(.put, "tags/closed/users/alice", as: admin)
        _ = try await network.call(.put, "tags/closed/devices/d-1", as: admin)
        for path in ["users/me/tags", "users/alice/tags", "devices/d-1/tags"] {
            let shown = try await network.call(.get, path, as: alice)
            #expect(shown.text == #"{"items":[{"tag":"open"}]}"#)
        }
        let all = try await network.call(.get, "users/alice/tags", as: admin)
        #expect(all.text == #"{"items":[{"tag":"closed"},{"tag":"open"}]}"#)
        for path in ["users/me", "devices/d-1"] {
            #expect(try await network.call(.delete, "tags/open/\(path)", as: alice).status == 204)
        }
        let left = try await network.call(.get, "tags/open/subscribers", as: admin)
        #expect(left.text == #"{"items":[]}"#)
    }

    @Test func `users neither touch nor see what is others', and only admins see the tags`() async throws {
        let (admin, alice) = (network.adminKey, network.token())
        try await addDevice("d-2", of: "bob", network, api)
        _ = try await network.call(.put, "tags/open", #"{"selfService":true}"#, as: admin)
        for path in ["users/bob", "devices/d-2"] {
            let subscription = network.path("tags/open/\(path)")
            #expect(try await api.call(.put, subscription, as: alice).status == 404)
            #expect(try await api.call(.put, subscription, as: admin).status == 204)
            #expect(try await network.call(.get, "\(path)/tags", as: alice).status == 404)
        }
        #expect(try await network.call(.delete, "tags/open/users/bob", as: alice).status == 404)
        let device = network.path("tags/open/devices/d-2")
        #expect(try await api.call(.delete, device, as: alice).status == 204, "as one that there is not")
        let list = try await network.call(.get, "tags/open/subscribers", as: admin)
        #expect(list.text == #"{"items":[{"deviceId":"d-2"},{"userId":"bob"}]}"#)
        let keys = [try await api.makeKey("device", in: network), try await api.makeKey("events", in: network)]
        for key in keys + [alice] {
            for path in ["tags", "tags/open", "tags/open/subscribers"] {
                #expect(try await network.call(.get, path, as: key).status == 403)
            }
            #expect(try await network.call(.put, "tags/new", "{}", as: key).status == 403)
            #expect(try await network.call(.delete, "tags/open", as: key).status == 403)
        }
        for key in keys {
            for path in ["users/bob", "devices/d-2"] {
                #expect(try await network.call(.put, "tags/open/\(path)", as: key).status == 403)
                #expect(try await network.call(.get, "\(path)/tags", as: key).status == 403)
            }
        }
    }

    @Test(arguments: [
        (#"{"selfservice":true}"#, "/selfservice"), (#"{"selfService":"yes"}"#, "/selfService"),
        (#"{"description":7}"#, "/description"), (#"{"id":"other"}"#, "/id"),
    ])
    func `what is wrong with a declaration is told with its place`(body: String, pointer: String) async throws {
        let answer = try await network.call(.put, "tags/beta", body)
        #expect(answer.refusal == "400 invalid-tag")
        #expect(answer.pointers == [pointer])
    }

    @Test func `a subscription's body is empty, and its ids are ids`() async throws {
        let path = network.path("tags/beta/users/alice")
        let body = try await network.call(.put, path, #"{"since":1}"#)
        #expect(body.problem == "invalid-subscription")
        #expect(try await network.call(.put, path, "{}").status == 204)
        for path in ["tags/%0A", "tags/%00/users/alice", "tags/beta/users/%0A", "tags/beta/devices/%0A"] {
            let answer = try await network.call(.put, path, "{}")
            #expect(answer.problem == "invalid-id")
        }
        #expect(try await network.call(.put, "tags/beta/users/me").status == 403)
    }

    @Test func `the limits of tags are told by their names`() async throws {
        try await api.setLimits(#"{"tags":1,"tagsPerSubscriber":1}"#)
        _ = try await network.call(.put, "tags/t1", #"{"selfService":true}"#)
        let second = try await network.call(.put, "tags/t2", "{}")
        #expect(second.refusal == "409 limit-reached")
        #expect(second.pointers == ["/limits/tags"])
        _ = try await network.call(.put, "tags/other/users/alice")
        let third = try await network.call(.put, "tags/t1/users/me", as: network.token())
        #expect(third.status == 409 && third.pointers == ["/limits/tagsPerSubscriber"])
    }

    private func addDevice(_ id: String, of user: String, _ network: Credentials, _ api: TestAPI) async throws {
        let body = #"{"userId":"\#(user)","provider":"log"}"#
        let answer = try await network.call(.put, "devices/\(id)", body)
        #expect(answer.status == 201)
    }
}
