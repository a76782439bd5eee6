import CarillonCore
import HTTPTypes
import Testing

@Suite struct BrakeTests {
    @Test(
        arguments: [
            ("apns/apps/com.acme.chat", #"{"host":"x"}"#, ["/host"]), ("fcm/apps/com.acme.chat", "[]", [""]),
            ("webpush", "{}", ["/host"]), ("webpush", #"{"host":""}"#, ["/host"]),
            ("webpush", #"{"host":"push.example/x"}"#, ["/host"]),
            ("webpush", #"{"host":"a b","x":1}"#, ["/host", "/x"]),
            ("webpush", #"{"host":["push.example"]}"#, ["/host"]),
            ("webpush", #"{"host":"\#(String(repeating: "a", count: 256))"}"#, ["/host"]),
        ]
    )
    func `a lane that is badly named is 400`(path: String, body: String, pointers: [String]) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let path = network.path("providers/\(path)/release")
            let answer = try await api.call(.post, path, body, as: network.adminKey)
            #expect(answer.status == 400 && answer.problem == "invalid-release")
            #expect(answer.pointers == pointers)
            #expect(api.dispatcher.told.isEmpty)
        }
    }

    @Test(
        arguments: [
            ("apns/apps/com.acme.chat", nil), ("fcm/apps/com.acme.chat", nil), ("webpush", #"{"host":"push.example"}"#),
        ]
    )
    func `only admins of the network let a brake go`(path: String, body: String?) async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            let other = try await api.makeNetwork("other")
            let path = network.path("providers/\(path)/release")
            let strangers = [
                try await api.makeKey("device", in: network), try await api.makeKey("events", in: network),
                network.token(),
            ]
            for stranger in strangers {
                #expect(try await api.call(.post, path, body, as: stranger).status == 403)
            }
            #expect(try await api.call(.post, path, body).status == 401)
            #expect(try await api.call(.post, path, body, as: other.adminKey).status == 404)
            for provider in ["log", "webhook"] {
                let path = network.path("providers/\(provider)/release")
                #expect(try await api.call(.post, path, as: network.adminKey).status == 404)
            }
            #expect(try await api.call(.get, path, as: network.adminKey).status == 405)
            #expect(api.dispatcher.told.isEmpty)
        }
    }

    @Test func `a brake is let go for an hour, by app or by host`() async throws {
        try await withAPI { api in
            let network = try await api.makeNetwork()
            for (path, body) in [
                ("apns/apps/com.acme%2Fchat", nil), ("fcm/apps/x", "{}"), ("webpush", #"{"host":"Push.example:8443"}"#),
            ] {
                let path = network.path("providers/\(path)/release")
                let answer = try await api.call(.post, path, body, as: network.adminKey)
                #expect(answer.status == 202)
                #expect(answer.text == #"{"until":"2026-11-24T13:00:00.000Z"}"#)
            }
            let until = "until 2026-11-24T13:00:00.000Z"
            #expect(
                api.dispatcher.told == [
                    "released acme/apns/com.acme/chat \(until)", "released acme/fcm/x \(until)",
                    "released acme/webpush/push.example:8443 \(until)",
                ]
            )
        }
    }
}
