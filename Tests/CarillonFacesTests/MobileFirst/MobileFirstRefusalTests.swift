import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

/// Who is not let in, and what is not understood.
@Suite(.mobileFirst) struct MobileFirstRefusalTests {
    private let service: MobileFirstService = lent()
    private static let seconds = MobileFirstService.seconds

    @Test func `without a binding of that name there is nothing, in the push service's own words`() async throws {
        let answer = try await service.call(.get, "/imfpush/v1/apps/nobody/tags", as: service.backEnd())
        #expect(answer.refusal == "404 FPWSE0001E")
        #expect(answer.headers[.contentType] == "application/json")
        _ = try await service.store.faces.deleteFaceBinding(.imfpush, externalID: "com.acme", of: "acme")
        _ = try await service.store.faces.deleteFaceBinding(.imfpush, externalID: "com.other", of: "other")
        #expect(try await service.token("a", "b").status == 404)
    }

    @Test func `tokens of an authorization server that prove nothing are 401`() async throws {
        let good = #""iss":"mfp","sub":"alice","exp":\#(Self.seconds + 60),"scope":"push.mobileclient""#
        var cases = try [
            "x", "a.b.c", "..", MobileFirstIssuer.token("{\(good)}", key: MobileFirstIssuer.foreign),
            MobileFirstIssuer.token("{\(good)}", algorithm: "HS256"),
            MobileFirstIssuer.token("{\(good)}", algorithm: "none"),
            MobileFirstIssuer.token("{\(good)}").split(separator: ".").dropLast().joined(separator: ".") + ".",
        ]
        for (claim, wrong) in [
            (#""iss":"mfp""#, #""iss":"else""#), (#""exp":\#(Self.seconds + 60)"#, #""exp":\#(Self.seconds)"#),
            (#""exp":\#(Self.seconds + 60),"#, ""), (#""sub":"alice""#, #""sub":7"#),
            (#""sub":"alice""#, #""sub":"me""#),
            (#""sub":"alice""#, #""sub":"alice","nbf":\#(Self.seconds + 60)"#),
        ] {
            cases.append(try MobileFirstIssuer.token("{\(good.replacing(claim, with: wrong))}"))
        }
        for token in cases {
            let answer = try await service.call(.get, "devices/d1", as: token)
            #expect(answer.refusal == "401 -", "\(token)")
            #expect(answer.headers[.wwwAuthenticate] == #"Bearer error="invalid_token""#)
        }
        let none = try await service.call(.get, "devices/d1")
        #expect(none.refusal == "401 -" && none.headers[.wwwAuthenticate] == "Bearer")
        let right = try await service.call(.get, "devices/d1", as: service.app("alice"))
        #expect(right.refusal == "404 FPWSE0001E")
    }

    @Test func `a token that is good for something else is 403`() async throws {
        let message = #"{"message":{"alert":"x"}}"#
        let elsewhere = try MobileFirstIssuer.token(
            #"{"iss":"mfp","exp":\#(Self.seconds + 60),"scope":"push.mobileclient push.application.com.else"}"#
        )
        #expect(try await service.call(.get, "devices/d1", as: elsewhere).refusal == "403 -")
        let openID = try MobileFirstIssuer.token(#"{"iss":"mfp","exp":\#(Self.seconds + 60),"scope":"openid"}"#)
        #expect(try await service.call(.get, "devices/d1", as: openID).refusal == "403 -")
        #expect(try await service.call(.post, "messages", message, as: service.app("alice")).refusal == "403 -")
        #expect(try await service.call(.post, "tags", "{}", as: service.app("alice")).refusal == "403 -")
        let reader = try await service.backEnd(["tags.read", "push.application.com.acme"])
        #expect(try await service.call(.get, "tags", as: reader).status == 200)
        #expect(try await service.call(.post, "messages", message, as: reader).refusal == "403 -")
        let homeless = try await service.backEnd(["messages.write"])
        #expect(try await service.call(.post, "messages", message, as: homeless).refusal == "403 -")
        let foreign = try await service.backEnd(["messages.write", "push.application.*"], of: "other")
        #expect(try await service.call(.post, "messages", message, as: foreign).refusal == "403 -")
        #expect(
            try await service.call(.post, "/imfpush/v1/apps/com.other/messages", message, as: foreign).status == 202
        )
    }

    @Test func `tokens of ours end with their hour, with a changed letter, and with their key`() async throws {
        let secret = try await service.addKey("k", ["tags.read", "push.application.*"])
        let token = try #require(try await service.token("k", secret).string("access_token"))
        #expect(try await service.call(.get, "tags", as: token).status == 200)
        let parts = token.split(separator: ".").map(String.init)
        let forged = [
            parts[0], Base64URL.encode(#"{"iss":"carillon/imfpush","exp":9999999999}"#.utf8), parts[2],
        ].joined(separator: ".")
        #expect(try await service.call(.get, "tags", as: forged).refusal == "401 -")
        _ = try await service.store.faces.deleteFaceKey(.imfpush, name: "k", of: "acme")
        #expect(try await service.call(.get, "tags", as: token).refusal == "401 -")
        _ = try await service.addKey("k", ["tags.read", "push.application.*"])
        #expect(try await service.call(.get, "tags", as: token).status == 200, "the same secret is the same key")
        try await service.stage.advance(by: .seconds(3_600))
        #expect(try await service.call(.get, "tags", as: token).refusal == "401 -")
    }

    @Test func `the token route refuses as OAuth says`() async throws {
        let secret = try await service.addKey("k", ["tags.read", "push.application.*", "appSecret"])
        func ask(_ form: String, _ secret: String, as id: String = "k") async throws -> String {
            let answer = try await service.token(id, secret, form)
            return "\(answer.status) \(answer.string("error") ?? answer.string("scope") ?? "")"
        }
        let grant = "grant_type=client_credentials"
        #expect(try await ask(grant, "wrong") == "401 invalid_client")
        #expect(try await ask(grant, secret, as: "other") == "401 invalid_client")
        #expect(try await ask("grant_type=password", secret) == "400 unsupported_grant_type")
        #expect(try await ask("\(grant)&scope=tags.write", secret) == "400 invalid_scope")
        #expect(try await ask("\(grant)&scope=appSecret", secret) == "400 invalid_scope")
        #expect(try await ask("\(grant)&\(grant)", secret) == "400 invalid_request")
        #expect(try await ask("\(grant)&scope=%zz", secret) == "400 invalid_request")
        #expect(
            try await ask("\(grant)&scope=tags.read+push.application.x", secret)
                == "200 push.application.x tags.read"
        )
        #expect(try await ask(grant, secret) == "200 push.application.* tags.read")
        let json = try await service.call(.post, "/mfp/api/az/v1/token", "{}")
        #expect(json.status == 415)
    }

    @Test func `the headers of older apps are good for what their keys say`() async throws {
        let all = try await service.addKey("all", ["appSecret"])
        let app = try await service.addKey("app", ["clientSecret", "push.application.com.acme"])
        let narrow = try await service.addKey("narrow", ["appSecret", "push.application.com.else"])
        let foreign = try await service.addKey("foreign", ["appSecret"], of: "other")
        func ask(_ path: String, _ headers: [String: String]) async throws -> String {
            try await service.call(.get, path, headers: headers).refusal
        }
        #expect(try await ask("tags", ["appSecret": all]) == "200 -")
        #expect(try await ask("tags", ["appSecret": app]) == "403 -")
        #expect(try await ask("tags", ["appSecret": narrow]) == "403 -")
        #expect(try await ask("tags", ["appSecret": foreign]) == "401 -")
        #expect(try await ask("tags", ["appSecret": "x"]) == "401 -")
        #expect(try await ask("tags", ["clientSecret": app]) == "403 -")
        #expect(try await ask("devices/d", ["clientSecret": app]) == "404 FPWSE0001E")
        #expect(try await ask("devices", ["clientSecret": app]) == "403 -", "apps do not list everybody's devices")
        #expect(try await ask("settings/gcmConfPublic", ["clientSecret": app]) == "200 -")
    }

    private static let mistakes: [(method: HTTPRequest.Method, path: String, body: String?, refusal: String)] = [
        (.get, "devices?filter=token==x", nil, "400 FPWSE0007E"),
        (.get, "devices?filter=platform=A", nil, "400 FPWSE0007E"),
        (.get, "devices?filter=platform==W", nil, "400 FPWSE0007E"),
        (.get, "devices?usrId=a", nil, "400 FPWSE0007E"),
        (.get, "devices?userId=a&filter=userId==b", nil, "400 FPWSE0007E"),
        (.get, "devices?offset=-1", nil, "400 FPWSE1079E"), (.get, "devices?offset=x", nil, "400 FPWSE1079E"),
        (.get, "devices?size=0", nil, "400 FPWSE1080E"), (.get, "tags?size=501", nil, "400 FPWSE1080E"),
        (.delete, "subscriptions", nil, "400 FPWSE0008E"),
        (.delete, "subscriptions?deviceId=d1", nil, "400 FPWSE0008E"),
        (.delete, "subscriptions?device=d1&tagName=t", nil, "400 FPWSE0007E"),
        (.delete, "subscriptions?deviceId=d1&tagName=t", nil, "404 FPWSE0001E"),
        (.delete, "subscriptions/%25%25", nil, "404 FPWSE0012E"), (.delete, "tags/none", nil, "404 FPWSE0001E"),
        (.put, "tags/none", "{}", "404 FPWSE0001E"), (.delete, "devices/none", nil, "404 FPWSE0001E"),
        (.post, "subscriptions?action=remove", "{}", "400 FPWSE0007E"),
        (.post, "subscriptions", #"{"deviceId":"none","tagName":"t"}"#, "404 FPWSE0001E"),
        (.post, "subscriptions", #"{"deviceId":"none"}"#, "400 FPWSE0005E"),
        (.post, "subscriptions", #"{"deviceId":"none","tagNames":[]}"#, "400 FPWSE0005E"),
        (.post, "devices", "{", "400 FPWSE0004E"), (.post, "devices", "[]", "400 FPWSE0005E"),
        (.post, "devices", #"{"deviceId":"d","token":"x","platform":"W"}"#, "400 FPWSE0005E"),
        (.post, "devices", #"{"deviceId":"d","platform":"G"}"#, "400 FPWSE0005E"),
        (.post, "devices", #"{"deviceId":"d","token":"zz","platform":"A"}"#, "400 FPWSE0005E"),
        (.post, "devices", #"{"deviceId":"d","token":"aa","platform":"A","userId":"me"}"#, "400 FPWSE0005E"),
        (.post, "tags", #"{"name":"push.all"}"#, "409 FPWSE0002E"),
        (.post, "tags", #"{"name":""}"#, "400 FPWSE0005E"),
        (.post, "messages", "[]", "400 FPWSE0005E"), (.post, "messages/bulk", "{}", "400 FPWSE0005E"),
        (.post, "messages/bulk", "[]", "400 FPWSE0005E"),
        (.post, "messages/bulk", #"[{"message":{"alert":"a"}},{"message":{}}]"#, "400 FPWSE0005E"),
        (
            .post, "messages",
            #"{"message":{"alert":"a"},"settings":{"apns":{"payload":{"x":"\#(String(repeating: "x", count: 3_100))"}}}}"#,
            "400 FPWSE0005E"
        ),
        (.get, "messages/none", nil, "404 FPWSE0001E"), (.delete, "messages/none", nil, "405 -"),
        (.get, "nothing", nil, "404 FPWSE0001E"),
    ]

    @Test func `each mistake has its code`() async throws {
        let token = try await service.backEnd()
        for (method, path, body, refusal) in Self.mistakes {
            let answer = try await service.call(method, path, body, as: token)
            #expect(answer.refusal == refusal, "\(method) \(path) \(body ?? "")")
            #expect(service.acceptedCount == 0, "\(method) \(path) \(body ?? "")")
        }
    }

    @Test func `apps register so many devices for nobody, and another network's apps theirs`() async throws {
        var limits = NetworkLimits()
        limits.ownerlessDevices = 1
        try await withMobileFirst(limits: limits) { service in
            let app = try service.app(nil)
            func register(_ id: String, as token: String?, headers: [String: String] = [:]) async throws
                -> Answer
            {
                let body = #"{"deviceId":"\#(id)","token":"t-\#(id)","platform":"G"}"#
                return try await service.call(.post, "devices", body, as: token, headers: headers)
            }
            #expect(try await register("d1", as: app).status == 201)
            let refused = try await register("d2", as: app)
            #expect(refused.refusal == "409 -")
            #expect(refused.string("message") == "The network's limit is reached: ownerlessDevices is 1")
            #expect(try await register("d1", as: app).status == 201, "what is known is no more than there was")
            #expect(try await register("d2", as: service.app("alice")).status == 201)
            #expect(try await register("d3", as: service.backEnd()).status == 201)
            let other = ["clientSecret": try await service.addKey("app", ["clientSecret"], of: "other")]
            let path = "/imfpush/v1/apps/com.other/devices"
            let body = #"{"deviceId":"d1","token":"t1","platform":"G"}"#
            #expect(try await service.call(.post, path, body, headers: other).status == 201)
        }
    }

    @Test func `other forms are neither taken nor given`() async throws {
        let token = try await service.backEnd()
        let plain = ["content-type": "text/plain"]
        #expect(try await service.call(.post, "tags", "x", as: token, headers: plain).refusal == "415 -")
        #expect(try await service.call(.get, "tags", as: token, headers: ["accept": "text/html"]).refusal == "406 -")
        let fine = ["accept": "application/json;charset=utf-8, text/plain"]
        #expect(try await service.call(.get, "tags", as: token, headers: fine).status == 200)
    }
}
