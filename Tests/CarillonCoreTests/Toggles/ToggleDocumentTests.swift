import Testing

@testable import CarillonCore

@Suite struct ToggleDocumentTests {
    private static let user = ToggleScope.user(UserID(trusted: "bob"))
    private static let channel = ToggleScope.channel(UserID(trusted: "bob"), ChannelID(trusted: "general"))

    private func json(_ text: String) throws -> JSONValue { try JSONValue(parsing: Array(text.utf8)) }

    @Test(arguments: [
        (
            ToggleScope.network,
            """
            {"enabled":true,"modules":{"chat":{"enabled":true},"social":{"enabled":true},\
            "video":{"enabled":true},"direct":{"enabled":true}},"events":{"channel.created":{"enabled":true},"channel.invited":{"enabled":true},"member.joined":{"enabled":true},\
            "message.sent":{"enabled":true},"notification.direct":{"enabled":true}}}
            """
        ),
        (
            user,
            """
            {"enabled":true,"modules":{"chat":{"enabled":true,"roles":null},"social":{"enabled":true,"roles":null},\
            "video":{"enabled":true,"roles":null},"direct":{"enabled":true,"roles":null}},\
            "mutedUntil":null,"quietHours":null}
            """
        ),
        (channel, #"{"enabled":true,"mentionsOnly":false,"mutedUntil":null}"#),
    ])
    func `an empty document is full of defaults`(scope: ToggleScope, expected: String) throws {
        #expect(try scope.checked([:]) == json(expected))
        #expect(scope.completed([:]) == (try json(expected)))
    }

    @Test(arguments: [
        (
            ToggleScope.network,
            """
            {"enabled":true,"modules":{"chat":{"enabled":false},"social":{"enabled":true},\
            "video":{"enabled":true},"direct":{"enabled":true}},"events":{"channel.created":{"enabled":true},"channel.invited":{"enabled":true},"member.joined":{"enabled":false},\
            "message.sent":{"enabled":true},"notification.direct":{"enabled":true}}}
            """
        ),
        (
            user,
            """
            {"enabled":false,"modules":{"chat":{"enabled":true,"roles":{"only":["admin","moderator"]}},\
            "social":{"enabled":false,"roles":{"except":[]}},"video":{"enabled":true,"roles":null},\
            "direct":{"enabled":false,"roles":null}},"mutedUntil":"2026-11-21T00:00:00.000Z",\
            "quietHours":{"from":"22:00","to":"07:05","timeZone":"Asia/Bangkok"}}
            """
        ),
        (channel, #"{"enabled":false,"mentionsOnly":true,"mutedUntil":"2026-11-21T00:00:00.000Z"}"#),
    ])
    func `a full document comes back as it was, with updatedAt passed over`(scope: ToggleScope, text: String) throws {
        var document = try json(text)
        let expected = document
        #expect(try scope.checked(document) == expected)
        if case .object(var members) = document {
            members["updatedAt"] = "2026-11-20T10:00:00.000Z"
            document = .object(members)
        }
        #expect(try scope.checked(document) == expected)
    }

    @Test(arguments: ["UTC", "GMT", "CET", "EST5EDT", "Japan", "W-SU", "Zulu", "Asia/Bangkok", "Etc/UTC"])
    func `quiet hours come back in the time zone that they were set in, by its name`(zone: String) throws {
        let document = try json(#"{"quietHours":{"from":"22:00","to":"07:00","timeZone":"\#(zone)"}}"#)
        let checked = try Self.user.checked(document)
        guard case .object(let members) = checked, case .object(let hours)? = members["quietHours"] else {
            Issue.record("no quiet hours: \(checked)")
            return
        }
        #expect(hours["timeZone"] == .string(zone))
    }

    @Test(arguments: [
        (ToggleScope.network, #"{"enabeld":false}"#, "/enabeld"),
        (.network, #"{"enabled":"no"}"#, "/enabled"),
        (.network, #"{"enabled":null}"#, "/enabled"),
        (.network, #"{"events":{"member.joined":{"enabled":null}}}"#, "/events/member.joined/enabled"),
        (.network, #"{"modules":{"chat":{"enabled":null}}}"#, "/modules/chat/enabled"),
        (.network, #"{"modules":{"chats":{"enabled":false}}}"#, "/modules/chats"),
        (.network, #"{"modules":{"chat":false}}"#, "/modules/chat"),
        (.network, #"{"modules":{"chat":{"enabled":true,"roles":{"only":[]}}}}"#, "/modules/chat/roles"),
        (.network, #"{"events":{"message.edited":{"enabled":false}}}"#, "/events/message.edited"),
        (.network, #"{"events":{"member.joined":{"enabled":0}}}"#, "/events/member.joined/enabled"),
        (.network, #"[]"#, ""),
        (user, #"{"modules":{"chat":{"roles":{}}}}"#, "/modules/chat/roles"),
        (user, #"{"modules":{"chat":{"roles":{"only":[],"except":[]}}}}"#, "/modules/chat/roles"),
        (user, #"{"modules":{"chat":{"roles":{"only":"moderator"}}}}"#, "/modules/chat/roles/only"),
        (user, #"{"modules":{"chat":{"roles":{"only":[1]}}}}"#, "/modules/chat/roles/only/0"),
        (user, #"{"modules":{"chat":{"roles":{"only":null}}}}"#, "/modules/chat/roles/only"),
        (user, #"{"mutedUntil":"tomorrow"}"#, "/mutedUntil"),
        (user, #"{"mutedUntil":1763632800}"#, "/mutedUntil"),
        (user, #"{"quietHours":{"from":"22:00","to":"22:00","timeZone":"UTC"}}"#, "/quietHours/to"),
        (user, #"{"quietHours":{"from":"24:00","to":"07:00","timeZone":"UTC"}}"#, "/quietHours/from"),
        (user, #"{"quietHours":{"from":"9:00","to":"07:00","timeZone":"UTC"}}"#, "/quietHours/from"),
        (user, #"{"quietHours":{"from":"22:00","to":"+7:00","timeZone":"UTC"}}"#, "/quietHours/to"),
        (user, #"{"quietHours":{"from":"22:00","timeZone":"UTC"}}"#, "/quietHours/to"),
        (user, #"{"quietHours":{"from":"22:00","to":"07:00"}}"#, "/quietHours/timeZone"),
        (user, #"{"quietHours":{"from":"22:00","to":"07:00","timeZone":"Asia/Atlantis"}}"#, "/quietHours/timeZone"),
        (user, #"{"quietHours":{"from":"22:00","to":"07:00","timeZone":"GMT+7"}}"#, "/quietHours/timeZone"),
        (user, #"{"quietHours":{"from":"22:00","to":"07:00","timeZone":"PST"}}"#, "/quietHours/timeZone"),
        (user, #"{"quietHours":{"from":"22:00","to":"07:00","timeZone":"UTC","days":[]}}"#, "/quietHours/days"),
        (user, #"{"events":{}}"#, "/events"),
        (channel, #"{"mentionOnly":true}"#, "/mentionOnly"),
        (channel, #"{"mentionsOnly":null}"#, "/mentionsOnly"),
        (channel, #"{"quietHours":null}"#, "/quietHours"),
    ])
    func `a mistake is refused with its place`(scope: ToggleScope, text: String, pointer: String) throws {
        let document = try json(text)
        let error = #expect(throws: InvalidInput.self) { try scope.checked(document) }
        #expect(error?.problem == "invalid-toggles")
        #expect(error?.errors.map(\.pointer) == [pointer])
    }

    @Test(arguments: [
        (ToggleScope.network, #"{"enabeld":null}"#, "/enabeld"),
        (user, #"{"modules":{"chta":null}}"#, "/modules/chta"),
        (channel, #"{"quietHours":null}"#, "/quietHours"),
    ])
    func `a patch cannot remove what no document has`(scope: ToggleScope, text: String, pointer: String) throws {
        let patch = try json(text)
        let error = #expect(throws: InvalidInput.self) { try scope.checkMembers(ofPatch: patch) }
        #expect(error?.errors.map(\.pointer) == [pointer])
    }

    @Test(arguments: [
        #"{"enabled":null}"#, #"{"modules":null}"#, #"{"modules":{"chat":null}}"#, #"{"quietHours":null}"#,
    ])
    func `a patch can remove what a document has`(text: String) throws {
        let patch = try json(text)
        #expect(throws: Never.self) { try Self.user.checkMembers(ofPatch: patch) }
    }

    @Test func `all mistakes are named at once`() throws {
        let document = try json(#"{"enabled":1,"mentionsOnly":2,"mutedUntil":3,"x":4}"#)
        let error = #expect(throws: InvalidInput.self) { try Self.channel.checked(document) }
        #expect(error?.errors.map(\.pointer) == ["/enabled", "/mentionsOnly", "/mutedUntil", "/x"])
    }

    @Test func `a stored document with members of a later version is still read`() throws {
        let toggles = NetworkToggles(document: try json(#"{"enabled":false,"later":{}}"#))
        #expect(!toggles.enabled)
    }
}
