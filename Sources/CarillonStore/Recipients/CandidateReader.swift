import CarillonCore
import Postgres

/// Reads members with their settings and devices: each page of a channel once, however many events happened there.
///
/// Every table is looked into by its key, once for each row of the one before it, in that order: `LATERAL` subqueries with a
/// `LIMIT` leave the planner no other way. So what a page costs depends on the page, whatever the planner has heard of
/// the tables, which of a channel that was imported a moment ago is nothing. See `docs/decisions/0009`.
struct CandidateReader {
    /// How many audiences that have statements of their own are read together: what a reading holds in memory.
    private static let mostBroad = 2

    private struct PageKey: Hashable {
        var channel: ChannelKey
        var after: UserID?
    }

    /// The people whom a page is about: those whom an event lists, or those who are asked for.
    private struct Listed {
        var channel: ChannelKey
        var users: [UserID]
        var areAsked = false
    }

    private enum Source {
        case nobody
        case channel(PageKey)
        case listed(Int)
        case asked(Int)
        case named(Int)
        case broad(Int)
    }

    let queries: [RecipientQuery]

    private let limit: Int
    private var sources: [Source] = []
    private var keys: [PageKey] = []
    private var seen: Set<PageKey> = []
    private var listed: [Int: Listed] = [:]
    private var pages: [PageKey: CandidatePage] = [:]
    private var listedPages: [Int: CandidatePage] = [:]
    private var named = NamedDevices()
    private var broad: [Int: BroadAudience] = [:]
    /// What reads a further page of a channel.
    private var walk: MemberWalk?
    private var documents = ToggleDocuments()

    /// For the first page of each of the first queries, or, when the first query goes on with a large audience, the next
    /// page of that one alone; `addressed` are the devices that are reached by the addresses which queries name, by their positions.
    init(_ all: [RecipientQuery], addressed: [Int: [DeviceID]] = [:]) {
        var broadCount = 0
        let together = all.prefix { query in
            if query.audience.isBroad { broadCount += 1 }
            return query.after == nil && broadCount <= Self.mostBroad
        }
        queries = Array(all.first?.after == nil ? together : all.prefix(1))
        limit = all.first?.after == nil ? firstRecipientPageSize : recipientPageSize
        for (position, query) in queries.enumerated() {
            sources.append(
                query.only.map { asked($0, query, position) } ?? source(of: query, position, addressed[position] ?? [])
            )
        }
    }

    private mutating func asked(_ users: Set<UserID>, _ query: RecipientQuery, _ position: Int) -> Source {
        listed[position] = Listed(channel: query.channelOfMembers, users: users.sorted(), areAsked: true)
        return .asked(position)
    }

    private mutating func source(of query: RecipientQuery, _ position: Int, _ addressed: [DeviceID]) -> Source {
        switch (query.audience, query.after) {
        case (.nobody, _):
            return .nobody
        case (.everyone, let after):
            broad[position] = BroadAudience(nil, query.channelOrNone, after: after, limit: limit)
            return .broad(position)
        case (.tags(let tags), let after):
            broad[position] = BroadAudience(tags, query.channelOrNone, after: after, limit: limit)
            return .broad(position)
        case (_, .device):
            return .nobody
        case (.members(let channel), let after):
            let key = PageKey(channel: ChannelKey(network: query.networkID, channel: channel), after: after?.user)
            if let user = key.after {
                walk = MemberWalk(key.channel, after: user, limit: limit)
            } else if seen.insert(key).inserted {
                keys.append(key)
            }
            return .channel(key)
        case (.users(let users, let channel), let after):
            let key = ChannelKey(network: query.networkID, channel: channel)
            listed[position] = Listed(channel: key, users: Self.inOrder(users, behind: after?.user))
            return .listed(position)
        case (.people(let users), let after):
            let users = Self.inOrder(users, behind: after?.user)
            listed[position] = Listed(channel: query.channelOrNone, users: users, areAsked: true)
            return .listed(position)
        case (.devices(let devices), _):
            named.add(devices, query.channelOrNone, at: position)
            return .named(position)
        case (.addresses, _):
            named.add(addressed, query.channelOrNone, at: position)
            return .named(position)
        }
    }

    private static func inOrder(_ users: [UserID], behind last: UserID?) -> [UserID] {
        let users = Set(users).sorted()
        return if let last { users.filter { last < $0 } } else { users }
    }

    var statements: [SQL] {
        [pagesStatement, listedStatement, named.isEmpty ? nil : named.statement].compactMap(\.self)
            + broad.keys.sorted().flatMap { broad[$0]?.statements ?? [] }
    }

    mutating func take(_ answers: some Sequence<StatementResult>) throws {
        var answers = answers.makeIterator()
        if !keys.isEmpty, let answer = answers.next() { try takePages(AnswerPart(answer)) }
        if !listed.isEmpty, let answer = answers.next() { try takeListed(AnswerPart(answer)) }
        if !named.isEmpty, let answer = answers.next() { try named.take(answer, &documents) }
        for position in broad.keys.sorted() { try broad[position]?.take(&answers, &documents) }
    }

    /// The statement, where it is one and its rows are those of a page of people.
    var onlyStatement: SQL? {
        guard named.isEmpty, broad.isEmpty, walk == nil, keys.isEmpty || listed.isEmpty else { return nil }
        return pagesStatement ?? listedStatement
    }

    mutating func takeOnly(_ answer: AnswerPart) throws {
        try keys.isEmpty ? takeListed(answer) : takePages(answer)
    }

    private mutating func takePages(_ answer: AnswerPart) throws {
        var reading = PageReading(count: keys.count, limit: limit)
        try answer.forEach { row, first in try reading.add(row, first, &documents) }
        for (key, page) in zip(keys, reading.pages()) { pages[key] = page }
    }

    private mutating func takeListed(_ answer: AnswerPart) throws {
        let positions = listed.keys.sorted()
        var reading = PageReading(count: positions.count, limit: limit)
        for (number, position) in positions.enumerated() where listed[position]?.areAsked == true {
            reading.isOfAsked(number)
        }
        try answer.forEach { row, first in try reading.add(row, first, &documents) }
        for (position, page) in zip(positions, reading.pages()) { listedPages[position] = page }
    }

    /// What is still to be asked, in the same moment, one answer after the other; nothing when all is read.
    var furtherStatements: [SQL] { walk?.statements ?? [] }

    mutating func takeFurther(_ answers: some Sequence<StatementResult>) throws {
        try walk?.take(answers)
        guard furtherStatements.isEmpty, case .channel(let key)? = sources.first else { return }
        pages[key] = try walk?.page(&documents)
    }

    /// As many of the first queries as were answered; the first one always is.
    var answered: [RecipientQuery] {
        var total = 0
        var count = 0
        for source in sources {
            let size: Int? =
                switch source {
                case .nobody: 0
                case .channel(let key): pages[key]?.count
                case .listed(let position), .asked(let position): listedPages[position]?.count
                case .named(let position): named.recipients(at: position).count
                case .broad(let position): broad[position]?.count
                }
            guard let size, count == 0 || total + size <= recipientPageSize else { break }
            total += size
            count += 1
        }
        return Array(queries.prefix(count))
    }

    /// The people whom an event concerns: those who were members or subscribed before it, or whom it made members; all who are
    /// when it has no mark, as one that is accepted now.
    func recipients(at position: Int, mark: EventMark?) -> ([Recipient], next: PageCursor?) {
        // Nobody is told of their own joining; but whom the event knows to have been there before is told of it.
        let event = queries[position].event
        let isOfThoseBefore = event.type.kind.isOfMembers && event.existingMembers.isEmpty
        let isMeant = { (since: EventMark) in
            guard let mark else { return true }
            return since < mark || since == mark && !isOfThoseBefore
        }
        switch sources[position] {
        case .nobody, .asked:
            return ([], nil)
        case .channel(let key):
            let page = pages[key]?.recipients(since: isMeant)
            return (page?.0 ?? [], page?.next.map(PageCursor.user))
        case .listed:
            guard let page = listedPages[position] else { return ([], nil) }
            let (recipients, next) = page.recipients(since: isMeant)
            guard listed[position]?.areAsked == true else { return (recipients, next.map(PageCursor.user)) }
            // Who is invited is no member yet; who is listed as one may have left since.
            let people =
                event.direct == nil
                ? page.recipients(since: isMeant, and: Set(event.invited.map(\.id))) : page.people.map(\.recipient)
            return (people, next.map(PageCursor.user))
        case .named:
            return (named.recipients(at: position), nil)
        case .broad:
            return broad[position]?.page(before: mark) ?? ([], nil)
        }
    }

    /// Whether somebody on the page was a member of its channel before the event with that mark; true for pages of anybody else.
    func hasFormerMembers(at position: Int, mark: EventMark?) -> Bool {
        guard case .channel(let key) = sources[position] else { return true }
        return pages[key]?.hasMembers { since in mark.map { since < $0 } ?? true } ?? true
    }

    /// The people who were asked for, those first whom the event concerns as it is accepted now. Whom a direct notification
    /// concerns is not known here.
    func asked(at position: Int, for query: RecipientQuery) -> (concerned: [Recipient], others: [Recipient])? {
        guard case .asked = sources[position] else { return nil }
        let people = listedPages[position]?.people ?? []
        let isMeant: (UserID) -> Bool
        switch query.audience {
        case .nobody: isMeant = { _ in false }
        case .members: isMeant = { _ in true }
        case .users(let users, _): isMeant = Set(users).contains
        case .people(let users) where query.event.direct == nil: isMeant = Set(users).contains
        case .addresses, .devices, .everyone, .people, .tags: isMeant = { _ in false }
        }
        let isForMembers = if case .people = query.audience { false } else { true }
        let isConcerned = { (person: (recipient: Recipient, isMember: Bool)) in
            (person.isMember || !isForMembers) && isMeant(person.recipient.userID)
        }
        return (people.filter(isConcerned).map(\.recipient), people.filter { !isConcerned($0) }.map(\.recipient))
    }

    private var pagesStatement: SQL? {
        guard !keys.isEmpty else { return nil }
        // The comparison of rows says no more than that of user ids; but no index other than the primary key can serve it.
        return """
            SELECT p.position, m.user_id, m.since_event, m.toggles, \(sql: Self.personColumns)
            FROM unnest(\(keys.map(\.channel.network.rawValue)), \(keys.map(\.channel.channel.rawValue)),
                        \(keys.map { $0.after?.rawValue ?? "" })) WITH ORDINALITY
                AS p (network_id, channel_id, after, position)
            \(sql: Self.channels)
            CROSS JOIN LATERAL (
                SELECT m.user_id, m.since_event, m.toggles, m.facts_at FROM members m
                WHERE m.network_id = p.network_id AND m.channel_id = p.channel_id
                    AND (m.channel_id, m.user_id) > (p.channel_id, p.after) AND \(sql: Self.isMember)
                ORDER BY m.channel_id, m.user_id
                LIMIT \(limit + 1)
            ) AS m
            \(sql: Self.people(of: "m.user_id"))
            ORDER BY p.position
            LIMIT \(PageReading.maximumRows + 1)
            """
    }

    private var listedStatement: SQL? {
        guard !listed.isEmpty else { return nil }
        let positions = listed.keys.sorted()
        let people = positions.enumerated().flatMap { number, position -> [(Int, Listed, UserID)] in
            guard let list = listed[position] else { return [] }
            return list.users.prefix(limit + 1).map { (number + 1, list, $0) }
        }
        return """
            SELECT p.position, p.user_id, m.since_event,
                   CASE WHEN m.facts_at <= u.wiped_at THEN NULL ELSE m.toggles END, \(sql: Self.personColumns)
            FROM unnest(\(people.map(\.0)), \(people.map(\.1.channel.network.rawValue)),
                        \(people.map(\.1.channel.channel.rawValue)), \(people.map(\.2.rawValue)),
                        \(people.map(\.1.areAsked))) WITH ORDINALITY
                AS p (position, network_id, channel_id, user_id, is_asked, number)
            \(sql: Self.channels)
            LEFT JOIN LATERAL (
                SELECT CASE WHEN \(sql: Self.isMember) THEN m.since_event END AS since_event,
                       CASE WHEN m.facts_at <= c.wiped_at THEN NULL ELSE m.toggles END AS toggles, m.facts_at
                FROM members m
                WHERE m.network_id = p.network_id AND m.channel_id = p.channel_id AND m.user_id = p.user_id
                LIMIT 1
            ) AS m ON true
            CROSS JOIN LATERAL (
                SELECT CASE WHEN p.is_asked OR m.since_event IS NOT NULL THEN p.user_id END AS user_id
            ) AS counted
            \(sql: Self.people(of: "counted.user_id"))
            ORDER BY p.number
            LIMIT \(PageReading.maximumRows + 1)
            """
    }

    /// Whether `m` makes somebody a member of `c`.
    static let isMember: SQL = "m.is_member AND (c.emptied_at IS NULL OR m.facts_at > c.emptied_at)"

    /// Until when the memberships in the channel of `p` are over, and what people have set for it.
    static let channels: SQL = """
        LEFT JOIN LATERAL (
            SELECT c.emptied_at, c.wiped_at FROM channels c
            WHERE c.network_id = p.network_id AND c.channel_id = p.channel_id
            LIMIT 1
        ) AS c ON true
        """

    private static let personColumns: SQL = """
        u.locale, u.toggles, u.deleted OR coalesce(m.facts_at <= u.wiped_at, false), d.device_id, \(sql: .deviceFields)
        """

    /// What is known of a user, and their devices but those from before they were removed.
    static func people(of user: SQL) -> SQL {
        """
        LEFT JOIN LATERAL (
            SELECT u.locale, u.toggles, u.deleted, u.wiped_at, u.wipes FROM users u
            WHERE u.network_id = p.network_id AND u.user_id = \(sql: user)
            LIMIT 1
        ) AS u ON true
        LEFT JOIN LATERAL (
            SELECT d.device_id, \(sql: .deviceFields)
            FROM devices d
            WHERE d.network_id = p.network_id AND d.user_id = \(sql: user) AND d.state = 'active'
                AND d.user_wipes = coalesce(u.wipes, 0)
            LIMIT \(PageReading.maximumRows)
        ) AS d ON true
        """
    }
}

extension PageCursor {
    /// The last user of the former page, unless it had all of them.
    fileprivate var user: UserID? {
        if case .user(let user) = self { user } else { nil }
    }
}

extension Audience {
    /// Whether reading it takes statements of its own.
    fileprivate var isBroad: Bool {
        switch self {
        case .everyone, .tags: true
        case .addresses, .devices, .members, .nobody, .people, .users: false
        }
    }
}
