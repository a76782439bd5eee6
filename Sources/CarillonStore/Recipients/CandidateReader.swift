import CarillonCore
import Foundation
import Postgres

/// Reads members with their settings and devices: each page of a channel once, however many events happened there.
struct CandidateReader {
    /// Up to how many members a page is read together with others, by a plan that is made once.
    private static let smallPage = 1000

    private struct PageKey: Hashable {
        var channel: ChannelKey
        var after: UserID?
    }

    fileprivate struct Candidate {
        var sinceEvent: EventID
        var recipient: Recipient
    }

    fileprivate struct Page {
        var candidates: [Candidate] = []
        var next: UserID?
    }

    private var small: Set<PageKey> = []
    private var large: Set<PageKey> = []
    /// Queries about the people that an event lists, by their position.
    private var listed: [Int: (channel: ChannelKey, users: [UserID], next: UserID?)] = [:]
    private var pages: [PageKey: Page] = [:]
    private var listedPages: [Int: Page] = [:]
    private var documents = ToggleDocuments()

    /// How many recipients each query has at the most, as far as that is cheap to know.
    static func sizes(of queries: [RecipientQuery], _ session: borrowing PostgresSession) throws -> [Int] {
        let keys = Array(Set(queries.compactMap(pageKey)))
        var sizes: [PageKey: Int] = [:]
        if !keys.isEmpty {
            try session.forEach(
                """
                SELECT p.position,
                       (SELECT count(*) FROM (
                            SELECT FROM members m
                            WHERE m.network_id = p.network_id AND m.channel_id = p.channel_id AND m.user_id > p.after
                                AND m.is_member
                            LIMIT \(smallPage + 1)) AS first_ones)
                FROM unnest(\(keys.map(\.channel.network.rawValue)), \(keys.map(\.channel.channel.rawValue)),
                            \(keys.map { $0.after?.rawValue ?? "" })) WITH ORDINALITY
                    AS p (network_id, channel_id, after, position)
                """
            ) { row in
                let size = try row.decode(1, as: Int.self)
                sizes[keys[try row.decode(0, as: Int.self) - 1]] = size > smallPage ? recipientPageSize : size
            }
        }
        return queries.map { query in
            if let key = pageKey(query) { return sizes[key] ?? 0 }
            return query.event.type == .channelCreated ? query.event.members.count : 0
        }
    }

    /// Notes a query that ``read(_:)`` has to find the people for.
    mutating func add(_ query: RecipientQuery, at position: Int, size: Int) {
        if let key = Self.pageKey(query) {
            if size > Self.smallPage { large.insert(key) } else { small.insert(key) }
        } else if query.event.type == .channelCreated, let channel = query.channelKey {
            var users = Set(query.event.members.map(\.id)).sorted()
            if let after = query.after { users.removeAll { $0 <= after } }
            let share = Array(users.prefix(recipientPageSize))
            listed[position] = (channel, share, share.count < users.count ? share.last : nil)
        }
    }

    /// Reads all that was noted.
    mutating func read(_ session: borrowing PostgresSession) throws {
        try readSmallPages(session)
        for key in large { try readLargePage(key, session) }
        try readListed(session)
    }

    /// The people whom an event concerns: those who were members before it, or whom its creating the channel made ones.
    func recipients(of query: RecipientQuery, at position: Int) -> ([Recipient], next: UserID?) {
        if let key = Self.pageKey(query), let page = pages[key] {
            return (page.candidates.filter { $0.sinceEvent < query.eventID }.map(\.recipient), page.next)
        }
        guard let page = listedPages[position] else { return ([], nil) }
        return (page.candidates.filter { $0.sinceEvent <= query.eventID }.map(\.recipient), page.next)
    }

    private static func pageKey(_ query: RecipientQuery) -> PageKey? {
        switch query.event.type {
        case .messageSent, .memberJoined: query.channelKey.map { PageKey(channel: $0, after: query.after) }
        case .channelCreated, .channelDeleted, .channelUpdated, .memberLeft, .userDeleted, .userUpdated: nil
        }
    }

    private mutating func readSmallPages(_ session: borrowing PostgresSession) throws {
        guard !small.isEmpty else { return }
        let keys = Array(small)
        var found = [Page](repeating: Page(), count: keys.count)
        var documents = self.documents
        try session.forEach(
            """
            SELECT m.user_id, m.since_event, m.toggles, \(sql: Self.personColumns), p.position
            FROM unnest(\(keys.map(\.channel.network.rawValue)), \(keys.map(\.channel.channel.rawValue)),
                        \(keys.map { $0.after?.rawValue ?? "" })) WITH ORDINALITY
                AS p (network_id, channel_id, after, position)
            JOIN members m ON m.network_id = p.network_id AND m.channel_id = p.channel_id AND m.user_id > p.after
                AND m.is_member
            LEFT JOIN users u ON u.network_id = m.network_id AND u.user_id = m.user_id
            LEFT JOIN devices d ON d.network_id = m.network_id AND d.user_id = m.user_id AND d.state = 'active'
            WHERE u.deleted IS NOT TRUE
            ORDER BY p.position, m.user_id, d.device_id
            """
        ) { row in
            let position = try row.decode(Self.positionColumn, as: Int.self)
            try found[position - 1].add(row, &documents)
        }
        self.documents = documents
        for (key, page) in zip(keys, found) { pages[key] = page }
    }

    /// Reads a page in three statements, each planned with its values in sight: how many people and devices the network
    /// has decides how to find those of the page.
    private mutating func readLargePage(_ key: PageKey, _ session: borrowing PostgresSession) throws {
        let network = key.channel.network.rawValue
        let channel = key.channel.channel.rawValue
        let after = key.after?.rawValue ?? ""
        var page = Page()
        var positions: [UserID: Int] = [:]
        page.candidates.reserveCapacity(recipientPageSize + 1)
        positions.reserveCapacity(recipientPageSize + 1)
        var documents = self.documents
        try session.forEachInBulk(
            """
            SELECT user_id, since_event, toggles FROM members
            WHERE network_id = \(network) AND channel_id = \(channel) AND user_id > \(after) AND is_member
            ORDER BY user_id LIMIT \(recipientPageSize + 1)
            """
        ) { row in
            let user: UserID = try row.id(0)
            var settings = ToggleSettings()
            if let text = try row.decode(2, as: String?.self) { settings.channel = try documents.channel(text) }
            positions[user] = page.candidates.count
            page.candidates.append(
                Candidate(sinceEvent: try row.eventID(1), recipient: Recipient(userID: user, settings: settings))
            )
        }
        if page.candidates.count > recipientPageSize {
            page.candidates.removeLast()
            page.next = page.candidates.last?.recipient.userID
        }
        let last = page.candidates.last?.recipient.userID.rawValue ?? after
        let others: SQL = """
            IN (SELECT m.user_id FROM members m
                WHERE m.network_id = \(network) AND m.channel_id = \(channel) AND m.is_member
                    AND m.user_id > \(after) AND m.user_id <= \(last))
            """
        var gone: Set<Int> = []
        try session.forEachInBulk(
            """
            SELECT user_id, locale, toggles, deleted FROM users
            WHERE network_id = \(network) AND user_id > \(after) AND user_id <= \(last)
                AND (locale IS NOT NULL OR toggles IS NOT NULL OR deleted) AND user_id \(sql: others)
            """
        ) { row in
            guard let position = positions[try row.id(0)], position < page.candidates.count else { return }
            page.candidates[position].recipient.locale = try row.decode(1)
            if let text = try row.decode(2, as: String?.self) {
                page.candidates[position].recipient.settings.user = try documents.user(text)
            }
            if try row.decode(3) { gone.insert(position) }
        }
        try session.forEachInBulk(
            """
            SELECT device_id, user_id, provider, app_id, address, environment, p256dh, auth, locale, state, error,
                   registered_at
            FROM devices
            WHERE network_id = \(network) AND user_id > \(after) AND user_id <= \(last) AND state = 'active'
                AND user_id \(sql: others)
            """
        ) { row in
            guard let position = positions[try row.id(1)], position < page.candidates.count else { return }
            page.candidates[position].recipient.devices.append(try row.device())
        }
        for position in page.candidates.indices where page.candidates[position].recipient.devices.count > 1 {
            page.candidates[position].recipient.devices.sort { $0.id < $1.id }
        }
        if !gone.isEmpty {
            page.candidates = page.candidates.enumerated().filter { !gone.contains($0.offset) }.map(\.element)
        }
        self.documents = documents
        pages[key] = page
    }

    private mutating func readListed(_ session: borrowing PostgresSession) throws {
        guard !listed.isEmpty else { return }
        let keys = listed.flatMap { position, list in list.users.map { (position, list.channel, $0) } }
        var found = listed.mapValues { Page(next: $0.next) }
        var documents = self.documents
        let sql: SQL = """
            SELECT m.user_id, m.since_event, m.toggles, \(sql: Self.personColumns), p.position
            FROM unnest(\(keys.map(\.0)), \(keys.map(\.1.network.rawValue)), \(keys.map(\.1.channel.rawValue)),
                        \(keys.map(\.2.rawValue))) AS p (position, network_id, channel_id, user_id)
            JOIN members m ON m.network_id = p.network_id AND m.channel_id = p.channel_id AND m.user_id = p.user_id
                AND m.is_member
            LEFT JOIN users u ON u.network_id = m.network_id AND u.user_id = m.user_id
            LEFT JOIN devices d ON d.network_id = m.network_id AND d.user_id = m.user_id AND d.state = 'active'
            WHERE u.deleted IS NOT TRUE
            ORDER BY p.position, m.user_id, d.device_id
            """
        try session.forEach(sql) { row in
            try found[try row.decode(Self.positionColumn), default: Page()].add(row, &documents)
        }
        self.documents = documents
        listedPages = found
    }

    private static let personColumns: SQL = """
        u.locale, u.toggles, d.device_id, d.provider, d.app_id, d.address, d.environment, d.p256dh, d.auth, d.locale,
        d.error, d.registered_at
        """
    private static let positionColumn = 15
}

extension CandidateReader.Page {
    /// Adds a member, or one more device of the member that was added last.
    fileprivate mutating func add(_ row: borrowing Row, _ documents: inout ToggleDocuments) throws {
        let user: UserID = try row.id(0)
        if candidates.last?.recipient.userID != user {
            let recipient = Recipient(
                userID: user,
                locale: try row.decode(3),
                settings: ToggleSettings(
                    user: try row.decode(4, as: String?.self).map { try documents.user($0) } ?? UserToggles(),
                    channel: try row.decode(2, as: String?.self).map { try documents.channel($0) } ?? ChannelToggles()
                )
            )
            candidates.append(CandidateReader.Candidate(sinceEvent: try row.eventID(1), recipient: recipient))
        }
        guard !row.isNull(5) else { return }
        let device = Device(
            id: try row.id(5),
            userID: user,
            address: try row.address(at: 6),
            locale: try row.decode(12),
            error: try row.decode(13),
            registeredAt: try row.timestamp(14)
        )
        candidates[candidates.count - 1].recipient.devices.append(device)
    }
}
