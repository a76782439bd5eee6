import CarillonCore
import CarillonTesting
import HTTPTypes
import Testing

@Suite(.acme) struct DeviceRestoreTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }

    @Test(
        arguments: [
            ("[]", [""]), ("{}", ["/provider", "/from"]),
            (#"{"provider":"log","appId":"a","host":"b","from":"2026-11-24T11:00:00Z"}"#, ["/provider"]),
            (#"{"provider":"apns","from":"yesterday"}"#, ["/from"]),
            (#"{"provider":"apns","appId":"","from":"2026-11-24T11:00:00Z","to":1}"#, ["/appId", "/to"]),
            (#"{"provider":"apns","host":"push.example","from":"2026-11-24T11:00:00Z"}"#, ["/host"]),
            (#"{"provider":"webpush","appId":"a","from":"2026-11-24T11:00:00Z"}"#, ["/appId"]),
            (#"{"provider":"webpush","host":"a/b","from":"2026-11-24T11:00:00Z"}"#, ["/host"]),
            (#"{"provider":"fcm","from":"2026-11-24T12:00:00.001Z"}"#, ["/from"]),
            (#"{"provider":"fcm","from":"2026-11-24T11:00:00Z","to":"2026-11-24T11:00:00Z"}"#, ["/from"]),
            (#"{"provider":"fcm","from":"9999-12-31T23:59:59Z","to":"1970-01-01T00:00:00Z"}"#, ["/from"]),
            (#"{"provider":"fcm","from":"2026-11-24T11:00:00Z","deviceId":"d"}"#, ["/deviceId"]),
        ]
    )
    func `a bad window is 400 with every pointer`(body: String, pointers: [String]) async throws {
        let answer = try await network.call(.post, "devices/restore", body)
        #expect(answer.refusal == "400 invalid-restore")
        #expect(answer.pointers == pointers, "\(answer.text)")
    }

    @Test func `only admins of the network restore devices`() async throws {
        let other = try await api.makeNetwork("other")
        let path = network.path("devices/restore")
        let body = #"{"provider":"fcm","from":"2026-11-24T11:00:00Z"}"#
        for stranger in [try await api.makeKey("device", in: network), network.token()] {
            #expect(try await api.call(.post, path, body, as: stranger).status == 403)
        }
        #expect(try await other.call(.post, path, body).status == 404)
        #expect(try await network.call(.post, path).problem == "invalid-json")
    }

    @Test func `what was unregistered within the window is used again`() async throws {
        for (id, app) in [("a", "one"), ("b", "two"), ("c", "one")] {
            let body = #"{"userId":"u","provider":"fcm","token":"token-\#(id)","appId":"\#(app)"}"#
            #expect(try await network.call(.put, "devices/\(id)", body).status == 201)
        }
        let id = NetworkID(trusted: "acme")
        let devices = try await api.store.devices.devices(of: "u", in: id, after: nil, limit: 2)
        for device in devices { try await api.store.unregister([device], in: id, at: TestAPI.now) }
        let gone = try await network.call(.get, "devices/a")
        #expect(gone.string("state") == "unregistered" && gone.string("error") == "UNREGISTERED")
        try await api.database.advance(by: .seconds(60))
        func restored(_ body: String) async throws -> String {
            let answer = try await network.call(.post, "devices/restore", body)
            #expect(answer.status == 200)
            return answer.text
        }
        let before = #""from":"2026-11-24T11:00:00Z","to":"2026-11-24T12:00:00Z"}"#
        #expect(try await restored(#"{"provider":"fcm",\#(before)"#) == #"{"restored":0}"#)
        let since = #""from":"2026-11-24T14:00:00+02:00"}"#
        #expect(try await restored(#"{"provider":"apns",\#(since)"#) == #"{"restored":0}"#)
        #expect(try await restored(#"{"provider":"fcm","appId":"two",\#(since)"#) == #"{"restored":1}"#)
        #expect(try await restored(#"{"provider":"fcm",\#(since)"#) == #"{"restored":1}"#)
        let again = try await network.call(.get, "devices/a")
        #expect(again.string("state") == "active" && again["error"] == .some(.null))
    }

    @Test func `a device may have the id restore`() async throws {
        let path = network.path("devices/restore")
        let created = try await network.call(.put, path, #"{"userId":"u","provider":"log"}"#)
        #expect(created.status == 201 && created.string("id") == "restore")
        #expect(try await network.call(.get, path).text == created.text)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        let other = try await network.call(.post, "devices/d", "{}")
        #expect(other.status == 405 && other.headers[.allow] == "DELETE, GET, HEAD, PUT")
    }
}
