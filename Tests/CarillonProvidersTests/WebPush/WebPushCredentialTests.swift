import CarillonCore
import Crypto
import Testing

@testable import CarillonProviders

@Suite struct WebPushCredentialTests {
    private func pointers(_ document: JSONValue) -> [String] {
        do throws(InvalidInput) {
            _ = try WebPushCredential(reading: document, keepingKeyOf: nil)
            return []
        } catch {
            #expect(error.problem == "invalid-credential")
            return error.errors.map(\.pointer)
        }
    }

    @Test(arguments: [
        "", "ops@acme.example", "mailto:", "mailto:ops", "mailto:@acme.example", "mailto:a@b@acme.example",
        "mailto: ops@acme.example", "mailto:<ops@acme.example>", "mailto:mailto:ops@acme.example",
        "mailto:ops@acme.example?subject=x", "mailto:ops@acme.example\r\nx: y", "mailto:ops@localhost",
        "mailto:ops@acme.local",
        "mailto:ops@acme", "mailto:ops@acme..example", "http://acme.example", "https://localhost/",
        "https://127.0.0.1/",
        "https://user@acme.example", "ftp://acme.example", "tel:+1",
    ])
    func `refuses a subject by which nobody can be reached`(subject: String) {
        #expect(pointers(["subject": .string(subject)]) == ["/subject"])
    }

    @Test(arguments: [
        "mailto:ops@acme.example", "mailto:o.p+s@push.acme.example", "https://acme.example",
        "https://acme.example:8443/contact",
    ])
    func `takes an address or a page`(subject: String) throws {
        #expect(try WebPushCredential.example(subject: .string(subject)).subject == subject)
    }

    @Test func `refuses anything else`() {
        #expect(pointers([:]) == ["/subject"])
        #expect(pointers(["subject": 7]) == ["/subject"])
        #expect(pointers(["subject": "mailto:ops@acme.example", "publicKey": "x"]) == ["/publicKey"])
        #expect(
            pointers(["subject": .string("mailto:\(String(repeating: "a", count: 300))@b.example")]) == ["/subject"]
        )
    }

    @Test func `shows the public key as browsers take it`() throws {
        let credential = try WebPushCredential.example()
        let point = try #require(Base64URL.decode(credential.publicKey.utf8))
        #expect(point.count == 65)
        #expect(point.first == 4)
        #expect(credential.publicKey.utf8.count == 87)
        #expect(
            JSONValue.object(credential.identity) == [
                "subject": "mailto:ops@acme.example", "publicKey": .string(credential.publicKey),
            ]
        )
    }

    @Test func `keeps its key when the subject changes, and no two networks share one`() throws {
        let first = try WebPushCredential.example()
        let second = try WebPushCredential(reading: ["subject": "mailto:new@acme.example"], keepingKeyOf: first)
        #expect(second.publicKey == first.publicKey)
        #expect(second.subject == "mailto:new@acme.example")
        #expect(try WebPushCredential.example().publicKey != first.publicKey)
    }

    @Test func `comes back as it was stored`() throws {
        let credential = try WebPushCredential.example()
        let restored = try WebPushCredential(stored: JSONValue(parsing: credential.stored.serialized))
        #expect(restored.key.rawRepresentation == credential.key.rawRepresentation)
        #expect(restored.subject == credential.subject)
        for stored: JSONValue in [[:], ["subject": "mailto:a@b.example"], ["privateKey": "!"], ["privateKey": "AA"]] {
            #expect(throws: InvalidInput.self) { try WebPushCredential(stored: stored) }
        }
    }

    @Test func `never shows its private key`() throws {
        let credential = try WebPushCredential.example()
        let secret = Base64URL.encode(credential.key.rawRepresentation)
        var dumped = ""
        dump(credential, to: &dumped)
        for text in [
            "\(credential)", String(reflecting: credential), dumped,
            JSONValue.object(credential.identity).serializedText,
        ] {
            #expect(!text.contains(secret))
            #expect(text.contains(credential.publicKey))
        }
    }

    @Test func `can have a key before anybody answers for it`() throws {
        let first = WebPushCredential()
        #expect(JSONValue.object(first.identity) == ["subject": .null, "publicKey": .string(first.publicKey)])
        let restored = try WebPushCredential(stored: first.stored)
        #expect(restored.subject == nil)
        let second = try WebPushCredential(reading: ["subject": "mailto:ops@acme.example"], keepingKeyOf: restored)
        #expect(second.publicKey == first.publicKey)
    }

    @Test func `as a stored credential keeps its key over every PUT, and shows none of it`() throws {
        let format = CredentialFormat.webpush
        let now = Timestamp.example
        let initial = try #require(format.initial(now))
        let named = try format.read(["subject": "mailto:ops@acme.example"], "", initial, now)
        let renamed = try format.read(["subject": "mailto:new@acme.example"], "", named, now)
        #expect(renamed.identity["publicKey"] == initial.identity["publicKey"])
        #expect(renamed.identity["subject"] == "mailto:new@acme.example")
        let credential = try WebPushCredential(renamed)
        #expect(.string(credential.publicKey) == initial.identity["publicKey"])
        #expect(throws: InvalidInput.self) { try format.read([:], "", named, now) }
        #expect(throws: InvalidInput.self) {
            var broken = named
            broken.material = Secret("not json")
            _ = try format.read(["subject": "mailto:ops@acme.example"], "", broken, now)
        }
    }

    @Test func `a key that browsers have subscribed with elsewhere is taken over, and takes the place of no other`()
        throws
    {
        let key = P256.Signing.PrivateKey()
        let subject: JSONValue = "mailto:ops@acme.example"
        let forms = [key.pemRepresentation, Base64URL.encode(key.rawRepresentation)]
        for form in forms {
            let document: JSONValue = ["subject": subject, "privateKey": .string(form)]
            let taken = try WebPushCredential(reading: document, keepingKeyOf: nil)
            #expect(taken.publicKey == Base64URL.encode(key.publicKey.x963Representation))
            #expect(try WebPushCredential(reading: document, keepingKeyOf: taken).publicKey == taken.publicKey)
            let other = try WebPushCredential(reading: ["subject": subject], keepingKeyOf: nil)
            let refusal = #expect(throws: InvalidInput.self) {
                _ = try WebPushCredential(reading: document, keepingKeyOf: other)
            }
            #expect(refusal?.errors.map(\.pointer) == ["/privateKey"])
        }
        #expect(throws: InvalidInput.self) {
            _ = try WebPushCredential(reading: ["subject": subject, "privateKey": "none"], keepingKeyOf: nil)
        }
    }
}
