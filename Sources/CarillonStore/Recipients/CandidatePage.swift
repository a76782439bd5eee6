import CarillonCore
import Postgres

/// A page of members whom events may concern.
struct CandidatePage {
    /// Somebody, and which event made them a member, if they are one.
    struct Candidate {
        var since: EventMark?
        var recipient: Recipient
    }

    var candidates: [Candidate] = []
    /// The last one of a page that is not the last one.
    var next: UserID?

    /// How many people are on it.
    var count: Int { candidates.count }

    /// Those whose membership began where it is meant.
    func recipients(since isMeant: (EventMark) -> Bool) -> ([Recipient], next: UserID?) {
        (candidates.filter { $0.since.map(isMeant) ?? false }.map(\.recipient), next)
    }

    /// Whether somebody's membership began where it is meant.
    func hasMembers(since isMeant: (EventMark) -> Bool) -> Bool {
        candidates.contains { $0.since.map(isMeant) ?? false }
    }

    /// Those whose membership began where it is meant, and these people whether they are members or not.
    func recipients(since isMeant: (EventMark) -> Bool, and users: Set<UserID>) -> [Recipient] {
        candidates.filter { users.contains($0.recipient.userID) || $0.since.map(isMeant) ?? false }.map(\.recipient)
    }

    /// All of them, with whether they are members.
    var people: [(recipient: Recipient, isMember: Bool)] { candidates.map { ($0.recipient, $0.since != nil) } }

    /// The page with each one's devices in the order of their ids.
    fileprivate consuming func inOrder() -> CandidatePage {
        for index in candidates.indices where candidates[index].recipient.devices.count > 1 {
            candidates[index].recipient.devices.sort { $0.id < $1.id }
        }
        return self
    }
}

/// Collects pages from rows that come page by page, user by user, device by device.
struct PageReading {
    /// How many rows one reading takes in: what it holds in memory, whatever people own. A single user's devices beyond
    /// that many are not found.
    static let maximumRows = recipientPageSize

    fileprivate struct Page {
        var content = CandidatePage()
        /// How many users there were, with those who are no members any more or are deleted.
        var users = 0
        var last: UserID?
        /// The one before the last.
        var former: UserID?
        var lastCounts = false
        /// Whether those count, too, who are no members.
        var isOfAsked = false

        /// Leaves the last user to the next page.
        mutating func dropLast() {
            if lastCounts { content.candidates.removeLast() }
            content.next = former
            users -= 1
            lastCounts = false
        }
    }

    private let limit: Int
    private var found: [Page]
    private var current = 0
    private var rows = 0

    init(count: Int, limit: Int) {
        self.limit = limit
        found = Array(repeating: Page(), count: count)
    }

    /// Says that a page is of people who were asked for: they count whether they are members or not.
    mutating func isOfAsked(_ index: Int) { found[index].isOfAsked = true }

    static let columns =
        ["bigint", "text", "uuid", "text", "text", "text", "boolean"] + Array(repeating: "text", count: 9)
        + ["timestamptz", "boolean"]

    /// Takes a row: page, user, since when, channel toggles, locale, user toggles, deleted, and a device or nothing; from its column `first`.
    mutating func add(_ row: borrowing Row, _ first: Int, _ documents: inout ToggleDocuments) throws {
        rows += 1
        current = try row.decode(first, as: Int.self) - 1
        let user: UserID = try row.id(first + 1)
        if found[current].last != user { try begin(user, row, first, &documents) }
        guard found[current].lastCounts, !row.isNull(first + 7) else { return }
        let device = try row.activeDevice(at: first + 7, of: user)
        let index = found[current].content.candidates.count - 1
        found[current].content.candidates[index].recipient.devices.append(device)
    }

    /// The pages; `nil` for those that the rows did not get to.
    consuming func pages() -> [CandidatePage?] {
        let isCut = rows > Self.maximumRows
        var pages: [CandidatePage?] = []
        for index in found.indices {
            let isIncomplete = isCut && index >= current
            guard !isIncomplete || index == current && found[index].users > 1 else {
                pages.append(nil)
                continue
            }
            // Of the last user there may be more than was read.
            if isIncomplete || found[index].users > limit { found[index].dropLast() }
            pages.append(found[index].content.inOrder())
        }
        return pages
    }

    private mutating func begin(_ user: UserID, _ row: borrowing Row, _ first: Int, _ documents: inout ToggleDocuments)
        throws
    {
        // The cursor of a page is its last user, so that a plan which mixes the order up would leave people out.
        if let last = found[current].last, user < last { throw StoreError.unreadable("page of members") }
        found[current].users += 1
        found[current].former = found[current].last
        found[current].last = user
        let since = try row.decode(first + 6, as: Bool?.self) == true ? nil : row.decode(first + 2, as: EventMark?.self)
        found[current].lastCounts = since != nil || found[current].isOfAsked
        guard found[current].lastCounts else { return }
        let recipient = Recipient(
            userID: user,
            locale: try row.decode(first + 4),
            settings: try documents.settings(user: row.decode(first + 5), channel: row.decode(first + 3))
        )
        found[current].content.candidates.append(
            CandidatePage.Candidate(since: since, recipient: recipient)
        )
    }
}
