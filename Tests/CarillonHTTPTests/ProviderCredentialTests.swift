import CarillonCore
import CarillonTesting
import Crypto
import CryptoExtras
import HTTPTypes
import Testing

@Suite(.acme) struct ProviderCredentialTests {
    private let network: Credentials = lent()
    private var api: TestAPI { network.api }
    private static let apns = "providers/apns/apps/com.acme.chat"
    private static let fcm = "providers/fcm/apps/com.acme.chat"
    private static let webPush = "providers/webpush"

    @Test(
        arguments: [
            (apns, "[]", [""]), (apns, "{}", ["/teamId", "/keyId", "/privateKey"]),
            (apns, #"{"teamId":"T","keyId":"K","privateKey":"secret-of-mine"}"#, ["/privateKey"]),
            (
                apns, #"{"teamId":"T\r\nx: y","keyId":"K","privateKey":1,"topic":"x"}"#,
                ["/teamId", "/privateKey", "/topic"]
            ),
            (apns, #"{"certificate":"secret-of-mine","privateKey":"secret-of-mine"}"#, ["/certificate"]),
            (apns, #"{"pkcs12":"secret-of-mine","passphrase":"secret-of-mine"}"#, ["/pkcs12"]),
            (
                apns, #"{"pkcs12":"c2VjcmV0LW9mLW1pbmU=","passphrase":"secret-of-mine","teamId":"T"}"#,
                ["/pkcs12", "/teamId"]
            ),
            (fcm, "null", [""]), (fcm, "{}", ["/serviceAccount"]),
            (fcm, #"{"serviceAccount":"secret-of-mine","x":1}"#, ["/serviceAccount", "/x"]),
            (
                fcm,
                """
                {"serviceAccount":{"type":"authorized_user","project_id":"../x","client_email":"a b",\
                "private_key":"secret-of-mine","token_uri":"https://evil.example/token"}}
                """,
                ["type", "project_id", "client_email", "token_uri", "private_key"].map { "/serviceAccount/\($0)" }
            ),
            (webPush, "{}", ["/subject"]), (webPush, #"{"subject":null}"#, ["/subject"]),
            (webPush, #"{"subject":"secret-of-mine"}"#, ["/subject"]),
            (webPush, #"{"subject":"mailto:ops@localhost"}"#, ["/subject"]),
            (
                webPush, #"{"subject":"mailto:ops@acme.example","publicKey":"x","privateKey":"y"}"#,
                ["/privateKey", "/publicKey"]
            ),
        ] as [(String, String, [String])]
    )
    func `a bad credential is 400 with every pointer, and nothing is stored`(
        path: String,
        body: String,
        pointers: [String]
    ) async throws {
        let answer = try await network.call(.put, path, body)
        #expect(answer.refusal == "400 invalid-credential")
        #expect(answer.pointers == pointers, "\(answer.text)")
        #expect(!answer.text.contains("secret-of-mine"))
        #expect(try await api.store.credentials.providerCredentials(of: "acme").isEmpty)
        #expect(api.dispatcher.told.isEmpty)
    }

    @Test func `bodies that are no JSON, too large, or of another type are refused`() async throws {
        let path = network.path(Self.apns)
        #expect(try await network.call(.put, path, "{").problem == "invalid-json")
        #expect(try await network.call(.put, path, "{}", type: "text/plain").status == 415)
        let large = #"{"privateKey":"\#(String(repeating: "A", count: 70_000))"}"#
        #expect(try await network.call(.put, path, large).status == 413)
        let long = network.path("providers/apns/apps/" + String(repeating: "a", count: 257))
        #expect(try await network.call(.put, long, SampleCredentials.apns()).problem == "invalid-id")
        #expect(try await network.call(.get, "providers/apns").status == 404)
        #expect(try await network.call(.get, "providers/log/apps/x").status == 404)
        #expect(try await network.call(.post, path, "{}").status == 405)
    }

    @Test func `only admins of the network get at its credentials`() async throws {
        let other = try await api.makeNetwork("other")
        let strangers = [
            try await api.makeKey("device", in: network), try await api.makeKey("events", in: network),
            network.token(),
        ]
        let bodies = [
            Self.apns: SampleCredentials.apns(), Self.fcm: try SampleCredentials.fcm(),
            Self.webPush: #"{"subject":"mailto:ops@acme.example"}"#,
        ]
        for (path, body) in bodies {
            for method in [HTTPRequest.Method.get, .put, .delete] {
                let body = method == .put ? body : nil
                for stranger in strangers {
                    #expect(try await network.call(method, path, body, as: stranger).status == 403)
                }
                #expect(try await other.call(method, network.path(path), body).status == 404)
                #expect(try await api.call(method, network.path(path), body).status == 401)
            }
        }
        #expect(try await api.store.credentials.providerCredentials(of: "acme").isEmpty)
        #expect(api.dispatcher.told.isEmpty)
    }

    @Test func `a credential of another network is unknown`() async throws {
        let other = try await api.makeNetwork("other")
        let body = SampleCredentials.apns()
        #expect(try await network.call(.put, Self.apns, body).status == 201)
        #expect(try await other.call(.get, Self.apns).status == 404)
        #expect(try await other.call(.delete, Self.apns).status == 204)
        #expect(try await network.call(.get, Self.apns).status == 200)
    }

    @Test func `a key for APNs is stored, shown by what identifies it, replaced and removed`() async throws {
        let path = network.path(Self.apns)
        #expect(try await network.call(.get, path).status == 404)
        let key = P256.Signing.PrivateKey()
        let created = try await network.call(.put, path, SampleCredentials.apns(key: key))
        #expect(created.status == 201)
        #expect(
            created.text == """
                {"provider":"apns","appId":"com.acme.chat","updatedAt":"2026-11-24T12:00:00.000Z",\
                "teamId":"TEAM123456","keyId":"KEY1234567"}
                """
        )
        #expect(try await network.call(.get, path).text == created.text)
        try await api.database.advance(by: .seconds(1))
        let replaced = try await network.call(.put, path, SampleCredentials.apns(team: "OTHER"))
        #expect(replaced.status == 200)
        #expect(replaced.string("updatedAt") == "2026-11-24T12:00:01.000Z" && replaced.string("teamId") == "OTHER")
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.delete, path).status == 204)
        #expect(try await network.call(.get, path).status == 404)
        #expect(api.dispatcher.told == Array(repeating: "changed acme/apns/com.acme.chat", count: 4))
    }

    @Test func `the same credential once more is no change`() async throws {
        let bodies = [
            (Self.apns, SampleCredentials.apns()), (Self.fcm, try SampleCredentials.fcm()),
            (Self.webPush, #"{"subject":"mailto:ops@acme.example"}"#),
        ]
        for (path, body) in bodies {
            let created = try await network.call(.put, path, body)
            #expect(created.status == 201)
            try await api.database.advance(by: .seconds(1))
            let again = try await network.call(.put, path, body)
            #expect(again.status == 200 && again.text == created.text)
        }
        #expect(
            api.dispatcher.told == [
                "changed acme/apns/com.acme.chat", "confirmed acme/apns/com.acme.chat",
                "changed acme/fcm/com.acme.chat", "confirmed acme/fcm/com.acme.chat", "changed acme/webpush/*",
                "confirmed acme/webpush/*",
            ]
        )
    }

    @Test(arguments: [apns, fcm])
    func `what cannot be read is listed and replaced`(path: String) async throws {
        try await withAPI(credentials: { CredentialsInTrouble(store: $0.credentials, areReadable: false) }) { api in
            let network = try await api.makeNetwork()
            let body = path == Self.apns ? SampleCredentials.apns() : try SampleCredentials.fcm()
            #expect(try await network.call(.put, path, body).status == 201)
            let list = try await network.call(.get, "providers")
            #expect(list.status == 200 && list.text.contains(#""appId":"com.acme.chat""#))
            let other = path == Self.apns ? SampleCredentials.apns() : try SampleCredentials.fcm(project: "other")
            #expect(try await network.call(.put, path, other).status == 200)
            #expect(api.dispatcher.told.count == 2)
        }
    }

    @Test func `no answer holds a secret`() async throws {
        let key = P256.Signing.PrivateKey()
        let pem = try SampleCredentials.rsaKey.get().pkcs8PEMRepresentation
        // A line of a PEM is enough to give it away.
        let lines = [key.pemRepresentation, pem].flatMap { $0.split(separator: "\n").dropFirst().dropLast() }
        try #require(lines.allSatisfy { $0.count >= 16 } && lines.count > 10)
        var answers = [
            try await network.call(.put, Self.apns, SampleCredentials.apns(key: key)),
            try await network.call(.put, Self.fcm, try SampleCredentials.fcm()),
            try await network.call(.put, Self.webPush, #"{"subject":"mailto:o@acme.example"}"#),
        ]
        for path in [Self.apns, Self.fcm, Self.webPush, "providers"] {
            answers.append(try await network.call(.get, path))
        }
        let stored = try await api.store.credentials.providerCredentials(of: "acme")
        let webPush = try #require(stored.last?.material.reveal { try? JSONValue(parsing: $0) })
        guard case .object(let material) = webPush, case .string(let secret)? = material["privateKey"] else {
            Issue.record("a Web Push credential has a private key")
            return
        }
        for answer in answers {
            #expect(answer.status < 300 && !answer.text.contains("rivateKey"))
            for secret in lines + [secret[...]] { #expect(!answer.text.contains(secret)) }
        }
    }

    @Test func `an FCM credential shows project and account`() async throws {
        let path = network.path("providers/fcm/apps/a%20b")
        let created = try await network.call(.put, path, try SampleCredentials.fcm())
        #expect(created.status == 201)
        #expect(
            created.text == """
                {"provider":"fcm","appId":"a b","updatedAt":"2026-11-24T12:00:00.000Z","projectId":"acme-chat",\
                "clientEmail":"push@acme-chat.iam.gserviceaccount.com"}
                """
        )
    }
}
