import CarillonCore
import Postgres

/// Reads a further page of a channel: its members first, then their settings and devices as two ranges in the order of users' ids, which
/// are merged here.
///
/// Looking one person up costs six to eight blocks, however close together the rows are; a range costs the blocks that they are in. But it holds
/// those as well who are no members. So a few stretches of the page are counted first: where members are not few among whom they hold,
/// ranges are read, and otherwise each member is looked up by the key. See `docs/internals.md`.
struct MemberWalk {
    /// How many stretches of a page are counted, and how many members make one.
    private static let stretches = (count: 8, members: 32)
    /// How many of a network's users a stretch holds for each of its members, at most, where ranges are read.
    private static let widest = 3

    private enum Step {
        case members
        case stretches
        case ranges(devices: Int)
        case people
        case done
    }

    fileprivate struct Member {
        var user: UserID
        var since: EventMark?
        var toggles: String?
        var factsAt: PostgresTimestamp
        var locale: String?
        var settings: String?
        var isGone = false
        var wipes: Int32 = 0
        var devices: [Device] = []
    }

    private let channel: ChannelKey
    private let after: UserID
    private let limit: Int
    private var step = Step.members
    private var members: [Member] = []
    /// Of how many members everything is known.
    private var known = 0

    init(_ channel: ChannelKey, after user: UserID, limit: Int) {
        (self.channel, after, self.limit) = (channel, user, limit)
    }

    /// What is to be asked next, in the same moment; nothing when the page is read.
    var statements: [SQL] {
        switch step {
        case .members: [.walkingAlongIndexes(only: true), membersStatement]
        case .stretches: [stretchesStatement]
        case .ranges(let devices): [usersStatement, devicesStatement(limit: devices)]
        case .people: [peopleStatement]
        case .done: []
        }
    }

    mutating func take(_ answers: some Sequence<StatementResult>) throws {
        var answers = answers.makeIterator()
        guard let first = answers.next() else { throw StoreError.unreadable("page of members") }
        switch step {
        case .members: if let second = answers.next() { try takeMembers(second) }
        case .stretches: try takeStretches(first)
        case .ranges(let limit):
            guard let second = answers.next() else { throw StoreError.unreadable("page of members") }
            try takeUsers(first)
            try takeDevices(second, limit: limit)
            // What fits holds nobody's rows to their end, or few of what is wanted: the page is read in the other way.
            step = first.affectedRows > mostUsers || known == 0 ? .people : .done
        case .people: try takePeople(first)
        case .done: break
        }
    }
    /// The page; each one's devices are in the order of their ids.
    func page(_ documents: inout ToggleDocuments) throws -> CandidatePage {
        var page = CandidatePage()
        var rows = 0
        for (position, member) in members.enumerated() {
            rows += max(1, member.devices.count)
            guard position == 0 || position < min(known, limit) && rows <= PageReading.maximumRows else {
                page.next = members[position - 1].user
                break
            }
            guard let since = member.since, !member.isGone else { continue }
            let settings = try documents.settings(user: member.settings, channel: member.toggles)
            let devices = member.devices.prefix(PageReading.maximumRows).sorted { $0.id < $1.id }
            let recipient = Recipient(userID: member.user, locale: member.locale, settings: settings, devices: devices)
            page.candidates.append(CandidatePage.Candidate(since: since, recipient: recipient))
        }
        return page
    }
}

// MARK: Members and stretches

extension MemberWalk {
    /// Beside an equality of channels the comparison of rows would not say where the walk begins: PostgreSQL would go along all members
    /// of the former pages.
    private var membersStatement: SQL {
        """
        SELECT m.user_id, m.since_event, m.toggles, m.facts_at
        FROM unnest(\([channel.network.rawValue]), \([channel.channel.rawValue]), \([after.rawValue]))
            AS p (network_id, channel_id, after)
        \(sql: CandidateReader.channels)
        CROSS JOIN LATERAL (
            SELECT m.user_id, m.since_event, m.toggles, m.facts_at FROM members m
            WHERE m.network_id = p.network_id AND m.channel_id <= p.channel_id
                AND (m.channel_id, m.user_id) > (p.channel_id, p.after) AND \(sql: CandidateReader.isMember)
            ORDER BY m.channel_id, m.user_id
            LIMIT \(limit + 1)
        ) AS m
        """
    }

    private mutating func takeMembers(_ answer: StatementResult) throws {
        members = try answer.map { row in
            Member(
                user: try row.id(0),
                since: try row.decode(1),
                toggles: try row.decode(2),
                factsAt: try row.decode(3)
            )
        }
        // The cursor of a page is its last user, so that a plan which mixes the order up would leave people out.
        guard zip(members, members.dropFirst()).allSatisfy({ $0.user < $1.user }) else {
            throw StoreError.unreadable("page of members")
        }
        let hasStretches = members.count >= Self.stretches.count * (Self.stretches.members + 1)
        step = members.isEmpty ? .done : hasStretches ? .stretches : .people
    }

    /// Where stretches begin; each ends so many members later.
    private var starts: [Int] {
        let last = members.count - 1 - Self.stretches.members
        return (0..<Self.stretches.count).map { $0 * last / (Self.stretches.count - 1) }
    }

    private var stretchesStatement: SQL {
        let firsts = starts.map { members[$0].user.rawValue }
        let lasts = starts.map { members[$0 + Self.stretches.members].user.rawValue }
        return """
            SELECT counted.users
            FROM unnest(\(firsts), \(lasts)) AS n (first, last)
            CROSS JOIN LATERAL (
                SELECT count(*) AS users FROM (
                    SELECT FROM users u
                    WHERE u.network_id = \(channel.network.rawValue) AND u.user_id > n.first AND u.user_id <= n.last
                    ORDER BY u.user_id
                    LIMIT \(Self.widest * Self.stretches.members + 1)
                ) AS stretch
            ) AS counted
            """
    }

    private mutating func takeStretches(_ answer: StatementResult) throws {
        let users = try answer.map { row in try row.decode(0, as: Int.self) }
        guard users.allSatisfy({ $0 <= Self.widest * Self.stretches.members }) else {
            step = .people
            return
        }
        let counted = Self.stretches.count * Self.stretches.members
        step = .ranges(devices: PageReading.maximumRows * max(users.reduce(0, +), counted) / counted)
    }
}

// MARK: People

extension MemberWalk {
    private static let userColumns: SQL = "u.locale, u.toggles, u.deleted, u.wiped_at, u.wipes"

    /// How many users are read at most: whoever stands between the stretches is none that was counted.
    private var mostUsers: Int { (Self.widest + 1) * members.count }

    private var lastUser: String { members.last?.user.rawValue ?? after.rawValue }

    private var usersStatement: SQL {
        """
        SELECT u.user_id, \(sql: Self.userColumns) FROM users u
        WHERE u.network_id = \(channel.network.rawValue) AND u.user_id > \(after.rawValue) AND u.user_id <= \(lastUser)
        ORDER BY u.user_id
        LIMIT \(mostUsers + 1)
        """
    }

    private func devicesStatement(limit: Int) -> SQL {
        """
        SELECT d.user_id, d.user_wipes, d.device_id, \(sql: .deviceFields) FROM devices d
        WHERE d.network_id = \(channel.network.rawValue) AND d.user_id > \(after.rawValue) AND d.user_id <= \(lastUser)
            AND d.state = 'active'
        ORDER BY d.user_id
        LIMIT \(limit + 1)
        """
    }

    private var peopleStatement: SQL {
        """
        SELECT p.number, \(sql: Self.userColumns), d.device_id, \(sql: .deviceFields)
        FROM (
            SELECT \(channel.network.rawValue)::text COLLATE "C" AS network_id, n.user_id, n.number
            FROM unnest(\(members.map(\.user.rawValue))) WITH ORDINALITY AS n (user_id, number)
        ) AS p
        \(sql: CandidateReader.people(of: "p.user_id"))
        ORDER BY p.number
        LIMIT \(PageReading.maximumRows + 1)
        """
    }

    private mutating func takeUsers(_ answer: StatementResult) throws {
        var position = 0
        try answer.forEach { row in
            let user: UserID = try row.id(0)
            while position < members.count, members[position].user < user { position += 1 }
            if position < members.count, members[position].user == user { try members[position].set(row, 1) }
        }
    }

    private mutating func takeDevices(_ answer: StatementResult, limit: Int) throws {
        var position = 0
        var last = UserID.nobody
        try answer.forEach { row in
            last = try row.id(0)
            while position < members.count, members[position].user < last { position += 1 }
            guard position < members.count, members[position].user == last,
                try row.decode(1, as: Int32.self) == members[position].wipes
            else { return }
            members[position].devices.append(try row.activeDevice(at: 2, of: last))
        }
        // Of the last one there may be more.
        known = answer.affectedRows > limit ? position : members.count
        if known == 0, members[0].devices.count >= PageReading.maximumRows { known = 1 }
    }

    private mutating func takePeople(_ answer: StatementResult) throws {
        for position in members.indices { members[position].devices = [] }
        var position = 0
        try answer.forEach { row in
            position = try row.decode(0, as: Int.self) - 1
            try members[position].set(row, 1)
            guard !row.isNull(6) else { return }
            members[position].devices.append(try row.activeDevice(at: 6, of: members[position].user))
        }
        known = answer.affectedRows > PageReading.maximumRows ? position : members.count
        step = .done
    }
}

extension MemberWalk.Member {
    /// Reads what is known of the user: ``MemberWalk/userColumns``, which begin with `first`. Of one without a row it is nothing.
    fileprivate mutating func set(_ row: borrowing Row, _ first: Int) throws {
        locale = try row.decode(first)
        settings = try row.decode(first + 1)
        let wipedAt: PostgresTimestamp? = try row.decode(first + 3)
        isGone = try row.decode(first + 2, as: Bool?.self) ?? false || wipedAt.map { factsAt <= $0 } ?? false
        wipes = try row.decode(first + 4, as: Int32?.self) ?? 0
    }
}
