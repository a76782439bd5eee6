import CarillonCore
import Crypto
import Foundation
import Testing

@testable import CarillonProviders

@Suite struct APNsCredentialTests {
    private static let app = "com.acme.chat"
    private let key = P256.Signing.PrivateKey()
    private let now = Timestamp(milliseconds: 1_763_632_800_000)

    private func read(_ document: JSONValue) throws -> APNsCredential {
        try APNsCredential(reading: document, appID: Self.app, now: now)
    }

    /// The pointers of what is wrong.
    private func errors(in document: JSONValue) -> [String] {
        do {
            _ = try read(document)
            return []
        } catch let error as InvalidInput {
            #expect(error.problem == "invalid-credential")
            return error.errors.map(\.pointer)
        } catch {
            return ["\(error)"]
        }
    }

    private func token(_ privateKey: String) -> JSONValue {
        ["teamId": "TEAM123456", "keyId": "KEY1234567", "privateKey": .string(privateKey)]
    }

    @Test(arguments: ["AuthKey_KEY1234567.p8", "/etc/carillon/key.p8", "@AuthKey.p8", "~/key", "./key.pem"])
    func `knows a path for what it is`(path: String) {
        let documents: [JSONValue] = [
            token(path), ["certificate": .string(path), "privateKey": "x"], ["pkcs12": .string(path)],
        ]
        for document in documents {
            #expect {
                _ = try read(document)
            } throws: { error in
                (error as? InvalidInput)?.errors.first?.detail == "is the path of a file: what is in the file is needed"
            }
        }
    }

    @Test func `takes a key on P-256 only`() throws {
        let credential = try read(token(key.pemRepresentation))
        #expect(
            JSONValue.object(credential.identity).serializedText == #"{"teamId":"TEAM123456","keyId":"KEY1234567"}"#
        )
        let others = [
            "", "garbage", P384.Signing.PrivateKey().pemRepresentation, P521.Signing.PrivateKey().pemRepresentation,
            key.publicKey.pemRepresentation, String(key.pemRepresentation.dropLast(60)),
        ]
        for other in others { #expect(errors(in: token(other)) == ["/privateKey"]) }
    }

    @Test func `tells of everything that is wrong at once`() {
        #expect(errors(in: [:]) == ["/teamId", "/keyId", "/privateKey"])
        #expect(errors(in: "p8") == [""])
        #expect(
            errors(in: ["teamId": "a b", "keyId": "", "privateKey": "x", "password": "y"])
                == ["/teamId", "/keyId", "/privateKey", "/password"]
        )
        #expect(
            errors(in: ["teamId": .string(String(repeating: "a", count: 33)), "keyId": 1]).prefix(2) == [
                "/teamId", "/keyId",
            ]
        )
        #expect(errors(in: ["certificate": "x"]) == ["/privateKey"])
        #expect(errors(in: ["pkcs12": 1, "passphrase": false]) == ["/passphrase", "/pkcs12"])
    }

    @Test(
        arguments: [([app, "com.acme.chat.voip"], nil), ([], app), (["com.acme.other"], app)] as [([String], String?)]
    )
    func `takes a certificate for the app, in PEM or PKCS#12`(topics: [String], userID: String?) throws {
        let made = try TestAPNsCertificate(topics: topics, userID: userID)
        let fromPEM = try read(["certificate": .string(made.pem), "privateKey": .string(made.keyPEM)])
        let fromFile = try read(["pkcs12": .string(made.pkcs12(passphrase: "täst")), "passphrase": "täst"])
        #expect(fromPEM.identity == fromFile.identity)
        #expect(fromPEM.connectionName == fromFile.connectionName)
        #expect(fromPEM.identity["topics"] == .array((topics + [userID].compactMap { $0 }).map { .string($0) }))
        #expect(fromPEM.identity["notAfter"] == "2099-12-31T00:00:00.000Z")
    }

    @Test func `refuses a certificate that cannot work`() throws {
        let good = try TestAPNsCertificate(topics: [Self.app])
        let other = try TestAPNsCertificate(topics: [Self.app])
        func errors(_ certificate: TestAPNsCertificate, key: TestAPNsCertificate? = nil) throws -> [String] {
            let keyPEM = try (key ?? certificate).keyPEM
            return self.errors(in: ["certificate": .string(try certificate.pem), "privateKey": .string(keyPEM)])
        }
        #expect(try errors(good) == [])
        #expect(try errors(good, key: other) == ["/privateKey"])
        #expect(try errors(TestAPNsCertificate(topics: [Self.app], until: "2025-01-01")) == ["/certificate"])
        #expect(try errors(TestAPNsCertificate(topics: [Self.app], from: "2090-01-01")) == ["/certificate"])
        #expect(try errors(TestAPNsCertificate(topics: ["com.acme.other"])) == ["/certificate"])
        #expect(try errors(TestAPNsCertificate()) == ["/certificate"])
        let (certificate, key) = try (JSONValue.string(good.pem), JSONValue.string(good.keyPEM))
        #expect(self.errors(in: ["certificate": "garbage", "privateKey": key]) == ["/certificate"])
        #expect(self.errors(in: ["certificate": certificate, "privateKey": "garbage"]) == ["/privateKey"])
        #expect(self.errors(in: ["certificate": key, "privateKey": certificate]) == ["/certificate"])
    }

    @Test(arguments: ["\n", "\r\n", " \n"])
    func `takes a PKCS#12 file in base64 with line ends, as tools write it`(lineEnd: String) throws {
        let file = try TestAPNsCertificate(topics: [Self.app]).pkcs12(passphrase: "x")
        let lines = stride(from: 0, to: file.count, by: 64).map { String(file.dropFirst($0).prefix(64)) }
        let text = lines.joined(separator: lineEnd) + lineEnd
        let expected = try read(["pkcs12": .string(file), "passphrase": "x"])
        #expect(try read(["pkcs12": .string(text), "passphrase": "x"]).identity == expected.identity)
    }

    @Test func `refuses a PKCS#12 file that does not open`() throws {
        let file = try TestAPNsCertificate(topics: [Self.app]).pkcs12(passphrase: "right")
        #expect(errors(in: ["pkcs12": .string(file), "passphrase": "wrong"]) == ["/pkcs12"])
        #expect(errors(in: ["pkcs12": .string(file)]) == ["/pkcs12"])
        #expect(errors(in: ["pkcs12": .string(String(file.dropLast(100))), "passphrase": "right"]) == ["/pkcs12"])
        #expect(errors(in: ["pkcs12": "no base64!", "passphrase": "right"]) == ["/pkcs12"])
        #expect(errors(in: ["pkcs12": "", "passphrase": "right"]) == ["/pkcs12"])
    }

    @Test func `refuses a file whose certificates could not be read again`() throws {
        let topics = [Self.app] + (0..<600).map { "\(Self.app).\(String(repeating: "a", count: 30)).\($0)" }
        let made = try TestAPNsCertificate(topics: topics)
        #expect(try made.pem.utf8.count > 32_768)
        let file = try made.pkcs12(passphrase: "x")
        #expect(file.utf8.count < 65_536)
        #expect(errors(in: ["pkcs12": .string(file), "passphrase": "x"]) == ["/pkcs12"])
    }

    @Test func `can be stored and read again`() throws {
        let made = try TestAPNsCertificate(topics: [Self.app])
        let documents: [JSONValue] = [
            token(key.pemRepresentation),
            ["certificate": .string(try made.pem), "privateKey": .string(try made.keyPEM)],
            ["pkcs12": .string(try made.pkcs12(passphrase: "x")), "passphrase": "x"],
        ]
        for document in documents {
            let credential = try read(document)
            let again = try APNsCredential(stored: credential.stored)
            #expect(again.identity == credential.identity)
            #expect(again.connectionName == credential.connectionName)
        }
        #expect(throws: InvalidInput.self) { try APNsCredential(stored: [:]) }
    }

    @Test func `shows no secret`() throws {
        let made = try TestAPNsCertificate(topics: [Self.app])
        let credentials = [
            try read(token(key.pemRepresentation)),
            try read(["certificate": .string(try made.pem), "privateKey": .string(try made.keyPEM)]),
        ]
        for credential in credentials {
            var dumped = ""
            dump(credential, to: &dumped)
            for text in [dumped, "\(credential)", String(reflecting: credential)] {
                #expect(!text.contains("PRIVATE") && !text.contains("BEGIN"))
            }
        }
    }

    @Test func `shares tokens only with those who have the same key`() throws {
        let mine = try read(token(key.pemRepresentation))
        let again = try read(token(key.pemRepresentation))
        let pretender = try read(token(P256.Signing.PrivateKey().pemRepresentation))
        #expect(mine.connectionName == again.connectionName)
        #expect(mine.connectionName != pretender.connectionName)
    }
}
