import CarillonCore
import CarillonEdge
import CarillonTesting
import HTTPTypes
import Testing

@testable import CarillonFaces

/// What callers are told while a placement is away: whose a name is that is not known might be known there.
@Suite struct AwayPlacementTests {
    @Test func `Ably's clients are told to come again, and are not sent for another token`() async throws {
        try await withAbly { (ably: AblyService) async throws in
            let list = "/push/deviceRegistrations"
            ably.stub.lackPlacement(with: ["acme"])
            #expect(try await ably.call(.get, list).status == 200)
            for token in [AblyService.token("app9.key"), AblyService.token("app2.admin")] {
                #expect(
                    try await ably.call(.get, list, as: token).error == [503, 50003],
                    "unknown, or no more to be relied on"
                )
            }
            let wrong = AblyService.token(secret: "another-secret-0123456789")
            #expect(try await ably.call(.get, list, as: wrong).error == [401, 40140])
            let asked = try await ably.call(.post, "/keys/app9.key/requestToken", #"{"mac":"AA"}"#, as: nil)
            #expect(asked.error == [503, 50003])
        }
    }

    @Test func `homeservers repeat what nobody here has bound`() async throws {
        try await withStage(MatrixFace.init) { stage in
            try stage.bind("app", #"{"provider":"fcm"}"#)
            try stage.bind("mine", #"{"provider":"fcm","gatewayKeyRequired":true}"#)
            guard case .string(let key)? = try stage.makeKey()["secret"] else { return }
            func post(_ apps: String..., query: String = "") async throws -> Answer {
                let devices = apps.map { #"{"app_id":"\#($0)","pushkey":"k"}"# }.joined(separator: ",")
                let body = #"{"notification":{"event_id":"$e","devices":[\#(devices)]}}"#
                return try await stage.call(.post, "/_matrix/push/v1/notify" + query, body)
            }
            stage.stub.lackPlacement(with: ["acme"])
            #expect(try await post("app").status == 200)
            #expect(try await post("mine", query: "?k=\(key)").status == 200)
            #expect(
                try await post("unknown", query: "?k=\(key)").status == 404,
                "all that the key's network has is known"
            )
            for answer in try await [post("unknown"), post("app", "unknown"), post("app", query: "?k=gk_unknown")] {
                #expect(answer.status == 503 && answer["errcode"] == "M_UNKNOWN")
                #expect(answer.headers[.retryAfter] == "2")
            }
        }
    }

    @Test func `a face that nobody here has bound may be bound there`() async throws {
        try await withStage(MatrixFace.init) { stage async throws in
            let body = #"{"notification":{"devices":[{"app_id":"a","pushkey":"k"}]}}"#
            #expect(try await stage.call(.post, "/_matrix/push/v1/notify", body).status == 404)
            stage.stub.lackPlacement(with: [])
            #expect(try await stage.call(.post, "/_matrix/push/v1/notify", body).status == 503)
        }
    }

    @Test func `MobileFirst's clients do not take an application or a client for gone`() async throws {
        try await withMobileFirst { service in
            let secret = try await service.addKey("known", MobileFirstService.everything)
            service.stage.stub.lackPlacement(with: ["acme"])
            let app = try service.app("alice")
            #expect(try await service.call(.get, "devices/d1", as: app).refusal == "404 FPWSE0001E")
            for application in ["com.unknown", "com.other"] {
                let path = "/imfpush/v1/apps/\(application)/devices/d1"
                #expect(try await service.call(.get, path, as: app).refusal == "503 FPWSE0025E")
            }
            let wrong = ["appSecret": "no such secret"]
            #expect(try await service.call(.get, "devices/d1", headers: wrong).status == 401)
            #expect(try await service.token("known", secret).status == 200)
            #expect(try await service.token("unknown", "no such secret").status == 503)
        }
    }

    @Test func `Amity's apps keep their key`() async throws {
        let key = FaceKey(face: .amity, networkID: "acme", name: "app", rights: "device", createdAt: FaceStage.now)
        let settings: JSONObject = ["ios": ["appId": "com.acme.chat"], "requireUserToken": true]
        try await withStage(
            { AmityFace($0) },
            bindings: [FaceBinding(.amity, "default", isPrivate: true, settings, at: FaceStage.now)],
            keys: [StoredFaceKey(key: key, proof: .hash(SecretHash(of: "known")))]
        ) { stage in
            stage.stub.lackPlacement(with: ["acme"])
            func remove(_ key: String) async throws -> Answer {
                try await stage.call(.delete, "/v1/notification?deviceId=d-1", headers: ["x-api-key": key])
            }
            #expect(try await remove("known").status == 200)
            let unknown = try await remove("unknown")
            #expect(unknown.status == 503 && unknown["code"] == 500_000)
        }
    }

    @Test func `Buzz's apps register once more`() async throws {
        let settings: JSONObject = ["ios": ["appId": "ios.app"], "android": ["appId": "android.app"]]
        let binding = FaceBinding(.buzz, "com.known", settings, at: FaceStage.now)
        try await withStage({ BuzzFace($0) }, bindings: [binding]) { stage async throws in
            stage.stub.lackPlacement(with: ["acme"])
            func register(_ application: String) async throws -> Int {
                let body = #"{"applicationId":"\#(application)","type":0,"debugBuild":true,"token":"ab12"}"#
                return try await stage.call(.put, BuzzFace.path, body, as: stage.token()).status
            }
            #expect(try await register("com.known") == 200)
            #expect(try await register("com.unknown") == 503)
        }
    }
}
