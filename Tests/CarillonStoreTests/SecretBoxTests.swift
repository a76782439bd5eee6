import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonStore

@Suite struct SecretBoxTests {
    private let secret = Array("whsec_secret".utf8)
    private let box: SecretBox

    init() throws { box = try #require(SecretBox(masterKey: [UInt8](repeating: 1, count: 32))) }

    @Test(arguments: [0, 16, 31, 33])
    func `refuses a master key of another length`(count: Int) {
        #expect(SecretBox(masterKey: [UInt8](repeating: 1, count: count)) == nil)
    }

    @Test func `opens what it sealed for the same place`() throws {
        let sealed = try box.seal(secret, for: .incomingWebhook, in: "acme")
        #expect(try box.open(sealed, for: .incomingWebhook, in: "acme") == secret)
        let empty = try box.seal([], for: .incomingWebhook, in: "acme")
        #expect(try box.open(empty, for: .incomingWebhook, in: "acme") == [])
    }

    @Test func `never seals alike, and shows nothing of the secret`() throws {
        let first = try box.seal(secret, for: .incomingWebhook, in: "acme")
        let second = try box.seal(secret, for: .incomingWebhook, in: "acme")
        #expect(first != second)
        #expect(first.count == secret.count + 33)
        #expect(!String(decoding: first, as: UTF8.self).contains("secret"))
    }

    @Test func `does not open what was moved to another network or purpose`() throws {
        let sealed = try box.seal(secret, for: .incomingWebhook, in: "acme")
        #expect(throws: StoreError.cannotUnseal) { try box.open(sealed, for: .incomingWebhook, in: "other") }
        #expect(throws: StoreError.cannotUnseal) { try box.open(sealed, for: .outgoingWebhook, in: "acme") }
    }

    @Test func `does not open with another master key`() throws {
        let sealed = try box.seal(secret, for: .userToken, in: "acme")
        let other = try #require(SecretBox(masterKey: [UInt8](repeating: 2, count: 32)))
        #expect(throws: StoreError.cannotUnseal) { try other.open(sealed, for: .userToken, in: "acme") }
    }

    @Test func `does not open what was changed or cut anywhere`() throws {
        let sealed = try box.seal(secret, for: .userToken, in: "acme")
        for index in sealed.indices {
            var changed = sealed
            changed[index] ^= 1
            #expect(throws: StoreError.cannotUnseal) { try box.open(changed, for: .userToken, in: "acme") }
            let cut = Array(sealed[..<index])
            #expect(throws: StoreError.cannotUnseal) { try box.open(cut, for: .userToken, in: "acme") }
        }
    }

    @Test func `the previous master key opens, and only the current one seals`() throws {
        let former = [UInt8](repeating: 1, count: 32)
        let both = try #require(SecretBox(masterKey: [UInt8](repeating: 2, count: 32), previous: former))
        let old = try box.seal(secret, for: .userToken, in: "acme")
        #expect(try both.open(old, for: .userToken, in: "acme") == secret)
        let sealed = try both.seal(secret, for: .userToken, in: "acme")
        #expect(throws: StoreError.cannotUnseal) { try box.open(sealed, for: .userToken, in: "acme") }
        #expect(both.previousHeader == box.currentHeader)
        #expect(SecretBox(masterKey: former, previous: former)?.hasPrevious == false)
        #expect(SecretBox(masterKey: former, previous: [1]) == nil)
    }

    @Test func `nothing is sealed while that is not permitted`() throws {
        let sealed = try box.seal(secret, for: .userToken, in: "acme")
        let copy = box
        copy.permitSealing(false)
        #expect(throws: StoreError.wrongMasterKey) { try box.seal(secret, for: .userToken, in: "acme") }
        #expect(try box.open(sealed, for: .userToken, in: "acme") == secret)
        copy.permitSealing(nil)
        #expect(throws: StoreError.notReady) { try box.seal(secret, for: .userToken, in: "acme") }
        copy.permitSealing(true)
        #expect(throws: Never.self) { try box.seal(secret, for: .userToken, in: "acme") }
    }
}
