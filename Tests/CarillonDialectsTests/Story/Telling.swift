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

    /// What is posted before it is looked who is told what: a post, or several.
    struct Step: Sendable, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral {
        let posts: [Post]

        init(_ bodies: [String], kind: String? = nil) { posts = bodies.map { Post(body: $0, kind: kind) } }

        init(_ steps: [Step]) { posts = steps.flatMap(\.posts) }

        init(stringLiteral body: String) { self.init([body]) }

        init(arrayLiteral steps: Step...) { self.init(steps) }
    }

    /// What the sender speaks; `nil` for the native format.
    var dialect: DialectName?
    var steps: [Step]
    /// Who is told what in each step.
    var told: [[String]]
    /// Who was imported beforehand, where the sender never says who is a member.
    var imported: [UserID] = []
    /// Which of several tellings in one dialect it is.
    var name = ""

    init(
        _ dialect: DialectName?,
        _ steps: [Step],
        told: [[String]],
        imported: [UserID] = [],
        name: String = ""
    ) {
        self.dialect = dialect
        self.steps = steps
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
