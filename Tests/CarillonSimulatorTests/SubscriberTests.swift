import Crypto
import Foundation
import Testing

@testable import CarillonSimulator

@Suite struct SubscriberTests {
    /// RFC 8291 appendix A.
    private static let privateKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    /// RFC 8291 section 5.
    private static let message = """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
        mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
        pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
        """

    private func subscriber() throws -> Subscriber {
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: Token.bytes(base64URL: Self.privateKey))
        return Subscriber(privateKey: key, auth: Array(Token.bytes(base64URL: Self.auth)))
    }

    @Test func `decrypts the example of RFC 8291`() throws {
        let text = try #require(try subscriber().decrypt(Array(Token.bytes(base64URL: Self.message))))
        #expect(String(decoding: text, as: UTF8.self) == "When I grow up, I want to be a watermelon")
    }

    @Test func `decrypts no part of a message, and none with a bit that is wrong`() throws {
        let subscriber = try subscriber()
        let message = Array(Token.bytes(base64URL: Self.message))
        for length in message.indices { #expect(subscriber.decrypt(Array(message[..<length])) == nil) }
        for index in message.indices where !(16..<20).contains(index) {
            var wrong = message
            wrong[index] ^= 1
            #expect(subscriber.decrypt(wrong) == nil, "byte \(index)")
        }
    }
}
