import CarillonClient
import Foundation
import HTTPTypes
import Testing

/// What goes over the wire for each call.
@Suite struct RequestTests {
    @Test func `registers a device with a token of bytes, in the language the app runs in`() async throws {
        let transport = ScriptedTransport(.answer(201, Documents.device))
        let token = Data([0x74, 0x0f, 0x47, 0xff])
        let device = try await CarillonClient.test(transport).register(
            .apns(
                token: token,
                appID: "com.acme.chat",
                environment: .production,
                locale: Locale(identifier: "th_TH@calendar=buddhist")
            ),
            as: "d-1"
        )
        let sent = try #require(await transport.sent.first)
        #expect(sent.line == "PUT /v1/networks/acme/devices/d-1")
        #expect(sent.token == "Bearer jwt")
        #expect(sent.fields[.contentType] == "application/json")
        let body =
            #"{"appId":"com.acme.chat","environment":"production","locale":"th-TH","provider":"apns","token":"740f47ff"}"#
        #expect(sent.body == body)
        #expect(device.provider == .apns && device.state == .active && device.userID == "alice")
        #expect(device.lastSeenAt.timeIntervalSince(device.registeredAt) == 0.25)
    }

    @Test func `registers every kind of device, for a user of a back end's choice`() async throws {
        let transport = ScriptedTransport(.answer(200, Documents.device))
        let client = try CarillonClient.test(transport)
        let endpoint = try #require(URL(string: "https://push.example.org/s?a=1"))
        try await client.register(.fcm(token: "f:1", appID: "app", locale: nil), as: "d", for: "bob")
        try await client.register(.webPush(endpoint: endpoint, p256dh: "BP", auth: "AU"), as: "d")
        try await client.register(.webhook(endpoint).withoutBroadcasts(), as: "d", for: "bob")
        #expect(
            await transport.sent.map(\.body) == [
                #"{"appId":"app","provider":"fcm","token":"f:1","userId":"bob"}"#,
                """
                {"provider":"webpush","subscription":{"endpoint":"https://push.example.org/s?a=1",\
                "keys":{"auth":"AU","p256dh":"BP"}}}
                """,
                #"{"broadcasts":false,"provider":"webhook","url":"https://push.example.org/s?a=1","userId":"bob"}"#,
            ]
        )
    }

    @Test func `unregisters by the app's key, for whoever owns the device or for one user only`() async throws {
        let transport = ScriptedTransport(.answer(204))
        let tokens = Tokens("jwt")
        let client = try CarillonClient.test(transport, appKey: "ck_app") { await tokens.next() }
        try await client.unregister("d-1")
        try await client.unregister("d-1", onlyFor: "alice & bob")
        #expect(
            await transport.sent.map(\.line) == [
                "DELETE /v1/networks/acme/devices/d-1",
                "DELETE /v1/networks/acme/devices/d-1?userId=alice%20%26%20bob",
            ]
        )
        #expect(await transport.sent.allSatisfy { $0.token == "Bearer ck_app" && $0.body == nil })
        #expect(await tokens.count == 0)
    }

    @Test func `reads what the user wants, with modules that it has no name for`() async throws {
        let client = try CarillonClient.test(ScriptedTransport(.answer(200, Documents.settings)))
        let settings = try await client.notifications.settings()
        #expect(settings.isEnabled)
        #expect(settings.modules[.chat] == .allowed(.only(["moderator"])))
        #expect(settings.modules[.social] == .forbidden)
        #expect(settings.modules[.video] == .allowed(.except(["bot"])))
        #expect(settings.modules[.init(rawValue: "later")] == .allowed)
        let hours = CarillonClient.QuietHours(
            from: .init(hour: 22),
            to: .init(hour: 7, minute: 5),
            timeZone: try #require(TimeZone(identifier: "Asia/Bangkok"))
        )
        #expect(settings.quietHours == hours)
        #expect(settings.mutedUntil == nil)
        #expect(settings.updatedAt == Date(timeIntervalSince1970: 1_795_168_800))
    }

    @Test func `changes of the user's settings touch nothing else`() async throws {
        let transport = ScriptedTransport(.answer(200, Documents.settings))
        let notifications = try CarillonClient.test(transport).notifications
        try await notifications.enable([.chat: .allowed, .social: .forbidden, .video: .allowed(.only(["host"]))])
        try await notifications.enable()
        try await notifications.disable()
        try await notifications.mute(until: Date(timeIntervalSince1970: 1_795_168_800.25))
        try await notifications.unmute()
        let zone = try #require(TimeZone(identifier: "Europe/Berlin"))
        try await notifications.setQuietHours(.init(from: .init(hour: 22), to: .init(hour: 7), timeZone: zone))
        try await notifications.setQuietHours(nil)
        try await notifications.reset()
        let sent = await transport.sent
        #expect(
            sent.map(\.body) == [
                """
                {"enabled":true,"modules":{"chat":{"enabled":true,"roles":null},"social":{"enabled":false},\
                "video":{"enabled":true,"roles":{"except":null,"only":["host"]}}}}
                """,
                #"{"enabled":true}"#, #"{"enabled":false}"#, #"{"mutedUntil":"2026-11-20T10:00:00.250Z"}"#,
                #"{"mutedUntil":null}"#,
                #"{"quietHours":{"from":"22:00","timeZone":"Europe/Berlin","to":"07:00"}}"#,
                #"{"quietHours":null}"#, nil,
            ]
        )
        #expect(Set(sent.map(\.path)) == ["/v1/networks/acme/users/me/notifications"])
        #expect(sent.dropLast().allSatisfy { $0.method == "PATCH" } && sent.last?.method == "DELETE")
        #expect(sent[0].fields[.contentType] == "application/merge-patch+json")
    }

    @Test func `a channel is everything, mentions only or nothing, and muted beside that`() async throws {
        let transport = ScriptedTransport(.answer(200, Documents.channel))
        let channel = try CarillonClient.test(transport).channel("general/ä %2F?")
        try await channel.enable()
        try await channel.mentionsOnly()
        try await channel.disable()
        try await channel.mute(until: Date(timeIntervalSince1970: 0))
        try await channel.unmute()
        #expect(try await channel.settings().mentionsOnly == false)
        let sent = await transport.sent
        #expect(
            sent.map(\.body) == [
                #"{"enabled":true,"mentionsOnly":false}"#, #"{"enabled":true,"mentionsOnly":true}"#,
                #"{"enabled":false}"#, #"{"mutedUntil":"1970-01-01T00:00:00.000Z"}"#, #"{"mutedUntil":null}"#, nil,
            ]
        )
        let path = "/v1/networks/acme/users/me/channels/general%2F%C3%A4%20%252F%3F/notifications"
        #expect(Set(sent.map(\.path)) == [path])
    }

    @Test func `subscribes to tags, and lists all pages`() async throws {
        let transport = ScriptedTransport(
            .answer(204),
            .answer(204),
            .answer(200, #"{"items":[{"tag":"a"},{"tag":"b"}],"next":"c/1"}"#),
            .answer(200, #"{"items":[{"tag":"c"}]}"#)
        )
        let tags = try CarillonClient.test(transport).tags
        try await tags.subscribe(to: "offers")
        try await tags.unsubscribe(from: "offers", onlyOn: "d-1")
        #expect(try await tags.subscriptions() == ["a", "b", "c"])
        #expect(
            await transport.sent.map(\.line) == [
                "PUT /v1/networks/acme/tags/offers/users/me", "DELETE /v1/networks/acme/tags/offers/devices/d-1",
                "GET /v1/networks/acme/users/me/tags?limit=1000",
                "GET /v1/networks/acme/users/me/tags?limit=1000&cursor=c%2F1",
            ]
        )
    }

    @Test(arguments: ["", ".", ".."])
    func `an id that cannot stand in a path is not sent`(id: String) async throws {
        let transport = ScriptedTransport(.answer(204))
        let error = await #expect(throws: CarillonError.self) {
            try await CarillonClient.test(transport).unregister(id)
        }
        #expect(error?.code == .invalidRequest)
        #expect(await transport.sent.isEmpty)
    }

    @Test(arguments: [
        ("https://push.example.org:8443/carillon/?a=1#b", "/carillon/v1/networks/acme/devices/d"),
        ("http://[::1]:8080", "/v1/networks/acme/devices/d"),
    ])
    func `a path in front of the API is kept`(base: String, path: String) async throws {
        let transport = ScriptedTransport(.answer(204))
        try await CarillonClient.test(transport, base: base).unregister("d")
        #expect(await transport.sent.map(\.path) == [path])
    }

    @Test(arguments: ["ftp://push.example.org", "push.example.org", "file:///tmp"])
    func `an address that is none of HTTP is not used`(base: String) async throws {
        let error = await #expect(throws: CarillonError.self) {
            try await CarillonClient.test(ScriptedTransport(.answer(204)), base: base).unregister("d")
        }
        #expect(error?.code == .invalidRequest)
    }
}
