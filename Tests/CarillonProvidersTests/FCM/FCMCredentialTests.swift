import CarillonCore
import Crypto
import CryptoExtras
import Testing

@testable import CarillonProviders

@Suite struct FCMCredentialTests {
    private func pointers(_ document: JSONValue, for server: FCMServer = .google) -> [String] {
        do throws(InvalidInput) {
            _ = try FCMCredential(reading: document, for: server)
            return []
        } catch {
            #expect(error.problem == "invalid-credential")
            return error.errors.map(\.pointer)
        }
    }

    private func complaint(about document: JSONValue) -> String {
        do throws(InvalidInput) {
            _ = try FCMCredential(reading: document, for: .google)
            return ""
        } catch {
            return error.errors.map { "\($0.pointer) \($0.detail)" }.joined()
        }
    }

    @Test func `knows the app's own file, and a path, for what they are`() {
        let google: JSONValue = ["project_info": ["project_id": "acme"], "client": [], "configuration_version": "1"]
        #expect(complaint(about: ["serviceAccount": google]).hasPrefix("/serviceAccount is google-services.json"))
        #expect(complaint(about: google).hasPrefix(" is google-services.json"))
        for path in ["service-account.json", "/etc/key.json", "@key.json", "~/key"] {
            let complaint = complaint(about: ["serviceAccount": .string(path)])
            #expect(complaint.hasPrefix("/serviceAccount is the path of a file"))
        }
    }

    struct Refusal: Sendable {
        var changes: [(String, JSONValue)]
        var pointers: [String]

        init(_ key: String, _ value: JSONValue) {
            changes = [(key, value)]
            pointers = ["/serviceAccount/\(key)"]
        }
    }

    static let refusals: [Refusal] = [
        Refusal("type", "authorized_user"),
        Refusal("type", .null),
        Refusal("project_id", .null),
        Refusal("project_id", "../evil"),
        Refusal("project_id", "a/messages:send?x="),
        Refusal("project_id", 7),
        Refusal("client_email", .null),
        Refusal("client_email", "a\r\nb@example.com"),
        Refusal("private_key_id", "a\nb"),
        Refusal("token_uri", .null),
        Refusal("token_uri", "https://evil.example/token"),
        Refusal("token_uri", "http://oauth2.googleapis.com/token"),
        Refusal("private_key", .null),
        Refusal("private_key", ""),
        Refusal("private_key", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"),
        Refusal("private_key", .string(String(repeating: "A", count: 20_000))),
    ]

    @Test(arguments: refusals)
    func `names the place that is wrong`(refusal: Refusal) throws {
        #expect(pointers(try ServiceAccount.document(refusal.changes)) == refusal.pointers)
    }

    @Test func `names every place that is wrong`() throws {
        let changes: [(String, JSONValue)] = [
            ("type", "x"), ("project_id", ""), ("token_uri", "x"), ("private_key", "x"),
        ]
        #expect(pointers(try ServiceAccount.document(changes)) == changes.map { "/serviceAccount/\($0.0)" })
    }

    @Test func `refuses what is no service account at all`() throws {
        #expect(pointers(["serviceAccount": "x"]) == ["/serviceAccount"])
        #expect(pointers([:]) == ["/serviceAccount"])
        #expect(pointers("x").contains(""))
        #expect(pointers(["serviceAccount": try ServiceAccount.json(), "extra": 1]) == ["/extra"])
    }

    @Test func `refuses keys that are too short, and keys of another kind`() throws {
        let short = try _RSA.Signing.PrivateKey(unsafeKeySize: .init(bitCount: 1_024)).pkcs8PEMRepresentation
        for key in [short, P256.Signing.PrivateKey().pemRepresentation] {
            let document = try ServiceAccount.document([("private_key", .string(key))])
            #expect(pointers(document) == ["/serviceAccount/private_key"])
        }
    }

    @Test func `takes the operator's own token endpoint where the operator has set the server`() throws {
        let server = try #require(FCMServer(url: "https://127.0.0.1:9443"))
        let document = try ServiceAccount.document([("token_uri", "https://127.0.0.1:9443/token")])
        #expect(pointers(document, for: server) == [])
        #expect(pointers(document) == ["/serviceAccount/token_uri"])
    }

    @Test func `shows project and account, and never the key`() throws {
        let credential = try ServiceAccount.credential()
        #expect(
            JSONValue.object(credential.identity) == [
                "projectId": "acme-chat", "clientEmail": "push@acme-chat.iam.gserviceaccount.com",
            ]
        )
        var dumped = ""
        dump(credential, to: &dumped)
        for text in ["\(credential)", String(reflecting: credential), dumped] {
            #expect(!text.contains("PRIVATE"))
            #expect(text.contains("acme-chat"))
        }
    }

    @Test func `comes back as it was stored`() throws {
        let credential = try ServiceAccount.credential()
        let bytes = credential.stored.serialized
        let restored = try FCMCredential(stored: JSONValue(parsing: bytes))
        #expect(restored.account == credential.account)
        #expect(restored.projectID == credential.projectID)
        #expect(throws: InvalidInput.self) { try FCMCredential(stored: ["projectId": "p"]) }
        #expect(throws: InvalidInput.self) {
            try FCMCredential(
                stored: ["projectId": "p", "clientEmail": "e", "tokenUri": "t", "privateKey": "not a key"]
            )
        }
    }

    @Test func `is stored with its identity beside it, and read back`() throws {
        let format = CredentialFormat.fcm()
        let now = Timestamp.example
        let stored = try format.read(ServiceAccount.document(), "com.acme.chat", nil, now)
        #expect(stored.appID == "com.acme.chat")
        #expect(stored.updatedAt == now)
        #expect(!JSONValue.object(stored.identity).serializedText.contains("PRIVATE"))
        #expect(try FCMCredential(stored).account == ServiceAccount.credential().account)
        #expect(throws: InvalidInput.self) { try format.read([:], "a", stored, now) }
        #expect(format.initial(now) == nil)
    }
}
