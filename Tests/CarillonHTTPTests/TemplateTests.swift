import CarillonCore
import HTTPTypes
import Testing

@Suite struct TemplateTests {
    @Test func `built-in templates and the network's own are listed together`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("templates/message.sent/th_TH")
            let created = try await api.call(
                .put,
                path,
                #"{"title":"%1s","body":{"text":"%s!"}}"#,
                as: network.adminKey
            )
            #expect(created.status == 201)
            #expect(
                created.text == """
                    {"type":"message.sent","locale":"th-TH","origin":"network","title":"%1s","body":{"text":"%s!"},\
                    "updatedAt":"2026-11-24T12:00:00.000Z"}
                    """
            )
            #expect(try await api.call(.get, path, as: network.adminKey).text == created.text)
            let first = try await api.call(.get, network.path("templates?limit=5"), as: network.adminKey)
            #expect(first["items", "0", "type"] == "channel.created" && first["items", "0", "origin"] == "builtIn")
            let cursor = try #require(first.string("next"))
            let rest = try await api.call(.get, network.path("templates?cursor=\(cursor)"), as: network.adminKey)
            #expect(rest["items", "0", "locale"] == "th-TH" && rest["items", "1"] == .none && rest["next"] == .none)
            let replaced = try await api.call(.put, path, #"{"title":"x","body":"y"}"#, as: network.adminKey)
            #expect(replaced.status == 200)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, path, as: network.adminKey).status == 404)
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 404)
        }
    }

    @Test func `a built-in template is shown, overridden, and comes back`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("templates/channel.created/en")
            let builtIn = try await api.call(.get, path, as: network.adminKey)
            #expect(builtIn["origin"] == "builtIn" && builtIn["updatedAt"] == .some(.null))
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 404)
            #expect(try await api.call(.put, path, #"{"title":"%s","body":"Hi"}"#, as: network.adminKey).status == 201)
            #expect(try await api.call(.get, path, as: network.adminKey)["body"] == "Hi")
            #expect(try await api.call(.delete, path, as: network.adminKey).status == 204)
            #expect(try await api.call(.get, path, as: network.adminKey).text == builtIn.text)
        }
    }

    @Test(arguments: [
        (#"{"title":"100%","body":"x"}"#, ["/title"]), (#"{"title":"%9s","body":"{{Nobody}}"}"#, ["/title", "/body"]),
        (#"{"title":"x"}"#, ["/body"]), (#"{"title":"x","body":{"one":"y"}}"#, ["/body/one"]), ("[]", [""]),
        (#"{"title":"x","body":7}"#, ["/body"]), (#"{"title":"x","body":"y","text":"z"}"#, ["/text"]),
        (#"{"title":{"direct":"%","channel":"%4s"},"body":"y"}"#, ["/title/direct", "/title/channel"]),
        (#"{"title":{"text":"x"},"body":"y"}"#, ["/title/text"]),
        (#"{"title":{"group":"x"},"body":"y"}"#, ["/title/group"]),
    ])
    func `a bad template is 400 with every pointer`(body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.put, network.path("templates/message.sent/en"), body, as: network.adminKey)
            #expect(answer.status == 400)
            #expect(answer.problem == "invalid-template")
            #expect(Set(pointers).isSubset(of: answer.pointers))
            let lone = try await api.call(
                .put,
                network.path("templates/message.sent/en"),
                #"{"title":"100%","body":"x"}"#,
                as: network.adminKey
            )
            #expect(lone.text.contains("column 4"))
        }
    }

    @Test(arguments: [
        ("templates/member.left/en", 404), ("templates/nothing/en", 404), ("templates/message.sent/x", 400),
        ("templates/message.sent/%00", 400), ("templates/message.sent/de", 404),
    ])
    func `a place without templates is refused`(path: String, status: Int) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            #expect(try await api.call(.get, network.path(path), as: network.adminKey).status == status)
        }
    }

    @Test func `a preview shows how an event would read`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let event = """
                {"data":{"channel":{"id":"general"},"user":{"id":"alice","displayName":"%2s"},\
                "message":{"type":"text","text":"{{Message}}"}}}
                """
            let template = #"{"title":"{{UserDisplayName}}","body":{"text":"%1s!"}}"#
            let body = #"{"type":"message.sent","locale":"de","template":\#(template),"event":\#(event)}"#
            let answer = try await api.call(.post, network.path("templates/preview"), body, as: network.adminKey)
            #expect(answer.text == #"{"title":"%2s","body":"{{Message}}!","locale":"de"}"#)
            let existing = #"{"type":"message.sent","locale":"th-TH","event":\#(event)}"#
            let current = try await api.call(.post, network.path("templates/preview"), existing, as: network.adminKey)
            #expect(current.text == #"{"title":"general: %2s","body":"{{Message}}","locale":"th"}"#)
        }
    }

    @Test func `a title may be another one for conversations of two`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("templates/message.sent/en")
            func title(_ channel: String) async throws -> String? {
                let event = """
                    {"data":{"channel":\(channel),"user":{"id":"alice","displayName":"Alice"},"message":{"text":"Hi"}}}
                    """
                let body = #"{"type":"message.sent","locale":"en","event":\#(event)}"#
                return try await api.call(.post, network.path("templates/preview"), body, as: network.adminKey)
                    .string("title")
            }
            #expect(try await title(#"{"id":"general"}"#) == "Alice (general)")
            #expect(try await title(#"{"id":"general","direct":true}"#) == "Alice")
            _ = try await api.call(.put, network.path("channels/dm"), #"{"direct":true}"#, as: network.adminKey)
            #expect(try await title(#"{"id":"dm"}"#) == "Alice")
            #expect(try await title(#"{"id":"dm","direct":false}"#) == "Alice (dm)")
            let own = #"{"title":{"direct":"%1s to you"},"body":"%s"}"#
            let saved = try await api.call(.put, path, own, as: network.adminKey)
            #expect(saved.status == 201 && saved["title", "direct"] == "%1s to you")
            #expect(try await api.call(.get, path, as: network.adminKey).text == saved.text)
            #expect(try await title(#"{"id":"dm"}"#) == "Alice to you")
            #expect(try await title(#"{"id":"general"}"#) == "Alice (general)")
            _ = try await api.call(.put, path, #"{"title":"%1s!","body":"%s"}"#, as: network.adminKey)
            #expect(try await title(#"{"id":"dm"}"#) == "Alice!", "one title is for all channels")
        }
    }

    @Test(arguments: [
        ("{}", ["/type", "/locale", "/event"]), (#"{"type":"member.left","locale":"en","event":{}}"#, ["/type"]),
        (#"{"type":"message.sent","locale":"!","event":{}}"#, ["/locale"]),
        (#"{"type":"message.sent","locale":"en","template":{"title":"%","body":"x"},"event":{}}"#, ["/template/title"]),
        (#"{"type":"message.sent","locale":"en","event":{}}"#, ["/event/data"]),
        (
            #"{"type":"message.sent","locale":"en","event":{"type":"user.updated","data":{"user":{"id":"x"}}}}"#,
            ["/event/type"]
        ),
        (#"{"type":"message.sent","locale":"en","event":7}"#, ["/event"]),
    ])
    func `a bad preview is 400`(body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let answer = try await api.call(.post, network.path("templates/preview"), body, as: network.adminKey)
            #expect(answer.status == 400)
            #expect(Set(pointers).isSubset(of: answer.pointers), "\(answer.text)")
        }
    }
}
