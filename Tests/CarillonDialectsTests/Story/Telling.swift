import CarillonCore
import CarillonTesting
import Testing

/// What a sender posts, and what comes of it.
struct Telling: Sendable, CustomTestStringConvertible {
    /// Something that is posted.
    struct Post: Sendable {
        var body: String
        /// What the URL says happened, where the body does not.
        var kind: String?
    }

    /// What the sender speaks; `nil` for the native format.
    var dialect: DialectName?
    var steps: [[Post]]
    /// Who is told what in each step.
    var told: [[String]]
    /// Who was imported beforehand, where the sender never says who is a member.
    var imported: [UserID] = []
    /// Which of several tellings in one dialect it is.
    var name = ""

    init(
        _ dialect: DialectName?,
        _ steps: [[String]],
        told: [[String]],
        kinds: [String: String] = [:],
        imported: [UserID] = [],
        name: String = ""
    ) {
        self.dialect = dialect
        self.steps = steps.map { bodies in bodies.map { Post(body: $0, kind: kinds[$0]) } }
        self.told = told
        self.imported = imported
        self.name = name
    }

    var testDescription: String { "\(dialect?.rawValue ?? "native")\(name.isEmpty ? "" : ", \(name)")" }

    static let hello = "Bob (General) | Hello"
    static let bye = "Carol (Lobby) | Bye"
    static let again = "Caroline (Lobby) | Again"

    /// What the native format yields.
    static let usual: [[String]] = [
        ["bob: General | You're now member of General!", "carol: General | You're now member of General!"],
        ["alice", "bob", "carol"].map { "\($0): Dave | Dave has joined General" },
        ["alice: \(hello)", "carol: \(hello)", "dave: \(hello)"], [], [], ["alice: \(bye)", "bob: \(bye)"],
        ["alice: \(again)", "bob: \(again)"],
    ]

    static let all = [
        native, amity, stream, sendbird, comet, cloud, twilio, talk, matrix, rocket, rocketRooms, mattermost,
    ]
}
