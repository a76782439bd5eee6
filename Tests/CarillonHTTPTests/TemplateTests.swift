import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct TemplateTests {
    private let network: Credentials = lent()

    @Test func `built-in templates and the network's own are listed together`() async throws {
        let path = network.path("templates/message.sent/th_TH")
        let created = try await network.call(.put, path, #"{"title":"%1s","body":{"text":"%s!"}}"#)
        #expect(created.status == 201)
        #expect(
            created.text == """
                {"type":"message.sent","locale":"th-TH","origin":"network","title":"%1s","body":{"text":"%s!"},\
                "updatedAt":"2026-11-24T12:00:00.000Z"}
                """
        )
        #expect(try await network.call(.get, path).text == created.text)
        let first = try await network.call(.get, "templates?limit=5")
        #expect(first["items", "0", "type"] == "channel.created" && first["items", "0", "origin"] == "builtIn")
        let cursor = try #require(first.string("next"))
        let rest = try await network.call(.get, "templates?cursor=\(cursor)")
        #expect(rest["items", "0", "locale"] == "th-TH" && rest["items", "1"] == .none && rest["next"] == .none)
        let replaced = try await network.call(.put, path, #"{"title":"x","body":"y"}"#)
        #expect(replaced.status == 200)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        #expect(try await network.call(.delete, path).status == 404)
    }

    @Test func `a built-in template is shown, overridden, and comes back`() async throws {
        let path = network.path("templates/channel.created/en")
        let builtIn = try await network.call(.get, path)
        #expect(builtIn["origin"] == "builtIn" && builtIn["updatedAt"] == .some(.null))
        #expect(try await network.call(.delete, path).status == 404)
        #expect(try await network.call(.put, path, #"{"title":"%s","body":"Hi"}"#).status == 201)
        #expect(try await network.call(.get, path)["body"] == "Hi")
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).text == builtIn.text)
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
        let answer = try await network.call(.put, "templates/message.sent/en", body)
        #expect(answer.refusal == "400 invalid-template")
        #expect(Set(pointers).isSubset(of: answer.pointers))
        let lone = try await network.call(.put, "templates/message.sent/en", #"{"title":"100%","body":"x"}"#)
        #expect(lone.text.contains("column 4"))
    }

    @Test(arguments: [
        ("templates/member.left/en", 404), ("templates/nothing/en", 404), ("templates/message.sent/x", 400),
        ("templates/message.sent/%00", 400), ("templates/message.sent/de", 404),
    ])
    func `a place without templates is refused`(path: String, status: Int) async throws {
        #expect(try await network.call(.get, path).status == status)
    }

    @Test func `a preview shows how an event would read`() async throws {
        let event = """
            {"data":{"channel":{"id":"general"},"user":{"id":"alice","displayName":"%2s"},\
            "message":{"type":"text","text":"{{Message}}"}}}
            """
        let template = #"{"title":"{{UserDisplayName}}","body":{"text":"%1s!"}}"#
        let body = #"{"type":"message.sent","locale":"de","template":\#(template),"event":\#(event)}"#
        let answer = try await network.call(.post, "templates/preview", body)
        #expect(answer.text == #"{"title":"%2s","body":"{{Message}}!","locale":"de"}"#)
        let existing = #"{"type":"message.sent","locale":"th-TH","event":\#(event)}"#
        let current = try await network.call(.post, "templates/preview", existing)
        #expect(current.text == #"{"title":"general: %2s","body":"{{Message}}","locale":"th"}"#)
    }

    @Test func `a title may be another one for conversations of two`() async throws {
        let path = network.path("templates/message.sent/en")
        func title(_ channel: String) async throws -> String? {
            let event = """
                {"data":{"channel":\(channel),"user":{"id":"alice","displayName":"Alice"},"message":{"text":"Hi"}}}
                """
            let body = #"{"type":"message.sent","locale":"en","event":\#(event)}"#
            return try await network.call(.post, "templates/preview", body)
                .string("title")
        }
        #expect(try await title(#"{"id":"general"}"#) == "Alice (general)")
        #expect(try await title(#"{"id":"general","direct":true}"#) == "Alice")
        _ = try await network.call(.put, "channels/dm", #"{"direct":true}"#)
        #expect(try await title(#"{"id":"dm"}"#) == "Alice")
        #expect(try await title(#"{"id":"dm","direct":false}"#) == "Alice (dm)")
        let own = #"{"title":{"direct":"%1s to you"},"body":"%s"}"#
        let saved = try await network.call(.put, path, own)
        #expect(saved.status == 201 && saved["title", "direct"] == "%1s to you")
        #expect(try await network.call(.get, path).text == saved.text)
        #expect(try await title(#"{"id":"dm"}"#) == "Alice to you")
        #expect(try await title(#"{"id":"general"}"#) == "Alice (general)")
        _ = try await network.call(.put, path, #"{"title":"%1s!","body":"%s"}"#)
        #expect(try await title(#"{"id":"dm"}"#) == "Alice!", "one title is for all channels")
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
        let answer = try await network.call(.post, "templates/preview", body)
        #expect(answer.status == 400)
        #expect(Set(pointers).isSubset(of: answer.pointers), "\(answer.text)")
    }
}
