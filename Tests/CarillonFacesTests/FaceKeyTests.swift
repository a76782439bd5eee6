import CarillonCore
import CarillonEdge
import CarillonTesting
import Testing

@testable import CarillonFaces

@Suite struct FaceKeyTests {
    @Test func `of a key that its holder sends only the hash is kept, and the secret is shown once`() {
        let request = FaceKeyRequest(
            networkID: "acme",
            name: nil,
            secret: nil,
            label: "Bot",
            now: Timestamp(milliseconds: 1)
        )
        let key = NewFaceKey(sent: "secret", name: "one", face: .matrix, rights: ["notify"], for: request)
        #expect(key.shown == ["secret": "secret"])
        #expect(key.stored.proof == .hash(FaceIndex.hash(of: "secret")))
        #expect(key.stored.key.label == "Bot")
        #expect(!"\(key.stored)".contains("secret"))
    }
}
