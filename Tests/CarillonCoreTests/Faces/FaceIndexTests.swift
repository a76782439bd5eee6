import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct FaceIndexTests {
    private static func binding(_ name: String, _ network: NetworkID = "acme", isPrivate: Bool = false) -> FaceBinding {
        FaceBinding(
            face: .matrix,
            externalID: name,
            networkID: network,
            isPrivate: isPrivate,
            settings: ["name": .string(name)],
            updatedAt: Timestamp(milliseconds: 1)
        )
    }

    private static func index(_ bindings: [FaceBinding], _ keys: [StoredFaceKey] = []) -> FaceIndex {
        FaceIndex(FaceList(version: 1, bindings: bindings, keys: keys))
    }

    @Test(arguments: [
        ("com.acme.chat.ios", "com.acme.chat.ios"), ("com.acme.chat.ios.dev", "com.acme.chat.*"),
        ("com.acme.chat.", "com.acme.chat.*"), ("com.acme.chat", "com.acme.*"), ("com.acme", "*"), ("", "*"),
        ("com.acme.*", "com.acme.*"),
    ])
    func `the longest pattern that a name begins like is its binding`(name: String, bound: String) {
        let index = Self.index(["com.acme.chat.ios", "com.acme.chat.*", "com.acme.*", "*"].map { Self.binding($0) })
        #expect(index.binding(.matrix, matching: name)?.externalID == bound)
    }

    @Test(
        arguments: [
            ("org.acme.ios", "org.acme.ios"), ("org.acme.web", "org.acme.*"), ("org.else.ios", "org.*.ios"),
            ("org.acme2", "org.acm??"), ("org.else", "org.*"), ("net.acme.ios", "*.acme.ios"), ("net", nil),
        ] as [(String, String?)]
    )
    func `of patterns the one with the most other characters is a name's binding`(name: String, bound: String?) {
        let patterns = ["org.*", "org.*.ios", "org.acm??", "*.acme.ios", "org.acme.*", "org.acme.ios"]
        for list in [patterns, patterns.reversed()] {
            let index = Self.index(list.map { Self.binding($0) })
            #expect(index.binding(.matrix, matching: name)?.externalID == bound)
        }
        let hidden = Self.index(patterns.map { Self.binding($0, isPrivate: true) })
        #expect(hidden.binding(.matrix, matching: name) == nil)
        #expect(hidden.binding(.matrix, matching: name, ownedBy: "acme")?.externalID == bound)
        #expect(hidden.isPrivate(.matrix, matching: name) == (bound != nil))
    }

    @Test func `what is bound for others, privately or in another system is not found`() {
        let index = Self.index([Self.binding("a*", isPrivate: true), Self.binding("b")])
        #expect(index.binding(.matrix, matching: "ab") == nil)
        #expect(index.binding(.matrix, matching: "ab", ownedBy: "other") == nil)
        #expect(index.binding(.matrix, matching: "ab", ownedBy: "acme") != nil)
        #expect(index.binding(.matrix, "b", ownedBy: "acme") == nil)
        #expect(index.binding(.ably, "b") == nil)
        #expect(index.isBound(.matrix) && !index.isBound(.ably))
        #expect(index.isPrivate(.matrix, matching: "ab"), "somebody with a key can name it")
        #expect(!index.isPrivate(.matrix, matching: "b"))
        #expect(!index.isPrivate(.ably, matching: "ab"))
    }

    @Test func `names are compared with patterns for so long and no longer`() {
        let name = String(repeating: "a", count: 256)
        let costly = (0..<FaceBinding.maximumCount).map { "*\(String(repeating: "a", count: 100))b*\($0)" }
        let index = Self.index((costly + ["a*a"]).map { Self.binding($0, isPrivate: true) })
        #expect(!index.isPrivate(.matrix, matching: name), "the widest comes last")
        #expect(index.isPrivate(.matrix, matching: "aa"))
        #expect(index.binding(.matrix, matching: name, ownedBy: "acme") == nil, "its own, too")
        #expect(index.binding(.matrix, matching: "aa", ownedBy: "acme")?.externalID == "a*a")
    }

    @Test func `names are told apart by their bytes`() {
        let index = Self.index([Self.binding("caf\u{E9}")])
        #expect(index.binding(.matrix, "caf\u{E9}") != nil)
        #expect(index.binding(.matrix, "cafe\u{301}") == nil, "another spelling is another name, and may be another's")
    }

    @Test func `keys are found by the secret that is sent, or by the name that has signed`() {
        func stored(_ name: String, _ proof: StoredFaceKey.Proof) -> StoredFaceKey {
            let key = FaceKey(
                face: .ably,
                networkID: "acme",
                name: name,
                rights: [],
                createdAt: Timestamp(milliseconds: 1)
            )
            return StoredFaceKey(key: key, proof: proof)
        }
        let keys = [stored("sent", .hash(SecretHash(of: "secret"))), stored("signing", .secret(Secret("other")))]
        let index = Self.index([], keys)
        #expect(index.key(.ably, secret: "secret") == keys[0])
        #expect(index.key(.ably, secret: "other") == nil, "a signing secret is not for sending")
        #expect(index.key(.ably, named: "signing") == keys[1])
        #expect(index.key(.ably, named: "sent") == nil, "a name proves nothing")
        #expect(index.key(.amity, secret: "secret") == nil)
    }
}

@Suite struct NamePatternTests {
    @Test(arguments: [
        ("*", "", true), ("*", "org.acme", true), ("org.*.ios", "org.acme.ios", true), ("org.*.ios", "org..ios", true),
        ("org.*.ios", "org.acme.ios.dev", false), ("*.ios", "org.acme.ios", true), ("*.ios", "ios", false),
        ("org.acme?", "org.acme2", true), ("org.acme?", "org.acme", false), ("org.acme?", "org.acme22", false),
        ("a*b*c", "a-b-b-c", true), ("a*b*c", "a-c-b", false), ("??*", "ab", true), ("??*", "a", false),
        ("?", "\u{1F600}", true), ("a*", "A", false), ("a.c*", "abc", false), ("*a", "ba*", false),
    ])
    func `a star is any text, a question mark any one character`(pattern: String, name: String, isMatch: Bool) throws {
        let pattern = try #require(NamePattern(pattern))
        var steps = 1_000
        let matches = pattern.matches(Array(name.unicodeScalars), within: &steps)
        #expect(matches == isMatch)
    }

    @Test func `a name without wildcards is no pattern`() {
        #expect(NamePattern("org.acme.ios") == nil)
        #expect(NamePattern("") == nil)
        #expect(NamePattern("org.acme.*")?.isPrefix == true)
        for pattern in ["org.*.ios", "org.?*", "*.*", "org?"] { #expect(NamePattern(pattern)?.isPrefix == false) }
    }

    @Test func `many stars take no more steps than the product of both lengths`() throws {
        let pattern = try #require(NamePattern(String(repeating: "*a", count: 128)))
        let name = Array(String(repeating: "a", count: 255).unicodeScalars) + ["b"]
        var steps = 256 * name.count
        let matches = pattern.matches(name, within: &steps)
        #expect(!matches && steps > 0)
    }

    @Test func `without steps nothing is found out`() throws {
        let pattern = try #require(NamePattern("*b"))
        let name = Array("aaab".unicodeScalars)
        var (enough, few) = (100, 3)
        let (first, second) = (pattern.matches(name, within: &enough), pattern.matches(name, within: &few))
        #expect(first && !second && few == 0)
    }
}
