import CarillonCore
import Postgres

/// Reads a page of an audience that the directory knows: everyone, or those who subscribe to tags.
///
/// Users come first, in the order of their ids; then the devices that count by themselves, in the order of theirs. The first
/// page may hold both. What a page costs depends on the page: tables are walked in the order of an index from where the
/// former page ended, and no further than the page is long.
struct BroadAudience {
    /// Which tags; `nil` for everyone.
    private let tags: [TagID]?
    private let channel: ChannelKey
    private let limit: Int
    private let phases: [Phase]
    /// Whether there are pages before it.
    private let isFurther: Bool
    private var users: [DeviceRow] = []
    private var devices: [(cursor: DeviceID, userSince: EventMark?, row: DeviceRow)] = []
    private var next: PageCursor?

    private enum Phase {
        case users(after: UserID)
        case devices(after: DeviceID)
    }

    /// The page behind a cursor, with up to `limit` rows of each kind.
    init(_ tags: [TagID]?, _ channel: ChannelKey, after cursor: PageCursor?, limit: Int) {
        self.tags = tags
        self.channel = channel
        self.limit = limit
        isFurther = cursor != nil
        phases =
            switch cursor {
            case nil: [.users(after: .nobody), .devices(after: .beforeAll)]
            case .user(let user): [.users(after: user)]
            case .device(let device): [.devices(after: device)]
            }
    }

    var statements: [SQL] {
        guard isFurther else { return pageStatements }
        return [.walkingAlongIndexes(only: true)] + pageStatements + [.walkingAlongIndexes(only: false)]
    }

    private var pageStatements: [SQL] {
        phases.map { phase in
            switch (phase, tags) {
            case (.users(let last), nil): everyUser(after: last)
            case (.users(let last), let tags?): subscribedUsers(tags, after: last)
            case (.devices(let last), nil): everyDeviceOfNobody(after: last)
            case (.devices(let last), let tags?): subscribedDevices(tags, after: last)
            }
        }
    }

    mutating func take(
        _ answers: inout some IteratorProtocol<StatementResult>,
        _ documents: inout ToggleDocuments
    ) throws {
        if isFurther { _ = answers.next() }
        defer { if isFurther { _ = answers.next() } }
        for phase in phases {
            guard let answer = answers.next() else { throw StoreError.unreadable("page of an audience") }
            switch phase {
            case .users(let former): try takeUsers(answer, after: former, &documents)
            case .devices: try takeDevices(answer, &documents)
            }
        }
        guard case .users? = phases.first, phases.count == 1, next == nil else { return }
        next = .device(.beforeAll)
    }

    /// How many are on it, or more.
    var count: Int { users.count + devices.count }

    /// Who is on it of those who were in the audience before the event with that mark, and where the next one goes on.
    func page(before mark: EventMark?) -> ([Recipient], next: PageCursor?) {
        let wasBefore = { (since: EventMark?) in
            guard let since, let mark else { return true }
            return since < mark
        }
        let owners = users.filter { wasBefore($0.since) }.recipientsInOrder
        var bySubscription: [DeviceID: [DeviceRow]] = [:]
        var order: [DeviceID] = []
        for (cursor, userSince, row) in devices where wasBefore(row.since) {
            // Whose user subscribes is there already.
            guard userSince == nil || !wasBefore(userSince) else { continue }
            if bySubscription[cursor] == nil { order.append(cursor) }
            bySubscription[cursor, default: []].append(row)
        }
        // A user with several such devices counts once, where the first of them stands.
        let others = order.flatMap { cursor -> [Recipient] in
            let rows = bySubscription[cursor] ?? []
            return rows.compactMap(\.device?.id).min() == cursor ? rows.recipients : []
        }
        return (owners.filter { tags != nil || !$0.devices.isEmpty } + others, next)
    }

    /// The most rows of a statement: those who subscribe bring all of their devices.
    private var rowLimit: Int { tags == nil ? limit : min(5 * limit, recipientPageSize) }

    private mutating func takeUsers(
        _ answer: StatementResult,
        after former: UserID,
        _ documents: inout ToggleDocuments
    ) throws {
        var owners = 0
        try answer.forEach { row in
            var read = try DeviceRow(row, 1, &documents)
            read.since = try row.decode(0)
            if users.last?.owner.userID != read.owner.userID { owners += 1 }
            users.append(read)
        }
        guard users.count > rowLimit || owners > limit, let last = users.last?.owner.userID else { return }
        if owners > 1 {
            // There may be more of the last one, who is left to the next page.
            while users.last?.owner.userID == last { users.removeLast() }
            next = users.last.map { .user($0.owner.userID) }
        } else if limit < recipientPageSize {
            // One with so many devices is left to a larger page altogether.
            users = []
            next = .user(former)
        } else {
            next = .user(last)
        }
    }

    private mutating func takeDevices(_ answer: StatementResult, _ documents: inout ToggleDocuments) throws {
        // What stands behind users who did not fit is read when they are through.
        guard next == nil else { return }
        var cursors: [DeviceID] = []
        var rows = 0
        try answer.forEach { row in
            rows += 1
            let cursor: DeviceID = try row.id(0)
            if cursors.last != cursor { cursors.append(cursor) }
            var read = try DeviceRow(row, 3, &documents)
            read.since = try row.decode(1)
            // What is walked over and not in use has a row, too: the page ends where the walk did.
            if read.device != nil { devices.append((cursor: cursor, userSince: try row.decode(2), row: read)) }
        }
        guard rows > rowLimit || cursors.count > limit, let last = cursors.last else { return }
        if cursors.count > 1 {
            devices.removeAll { $0.cursor == last }
            next = .device(cursors[cursors.count - 2])
        } else {
            next = .device(last)
        }
    }

    /// Devices that take part, user by user. Those that do not, or are not in use, have rows without a device, so that a page
    /// ends where as many were looked at as it is long.
    private func everyUser(after last: UserID) -> SQL {
        """
        SELECT NULL::uuid, o.user_id, u.locale, u.toggles, m.toggles,
               CASE WHEN d.takes_part AND d.user_wipes = coalesce(u.wipes, 0) THEN d.device_id END, \(sql: .deviceFields)
        FROM \(sql: channelRow)
        CROSS JOIN LATERAL (
            SELECT d.user_id, d.device_id, \(sql: .deviceFields), d.user_wipes,
                   d.broadcasts AND NOT d.transient AND d.state = 'active' AS takes_part
            FROM devices d
            WHERE (d.network_id, d.user_id) > (p.network_id, \(last.rawValue)) AND \(sql: isOfNetwork)
            ORDER BY d.network_id, d.user_id
            LIMIT \(limit + 1)
        ) AS d
        \(sql: DeviceRow.owner("d.user_id"))
        ORDER BY d.user_id
        """
    }

    private func everyDeviceOfNobody(after last: DeviceID) -> SQL {
        """
        SELECT walked.device_id, NULL::uuid, NULL::uuid, \(sql: DeviceRow.columns)
        FROM \(sql: channelRow)
        CROSS JOIN LATERAL (
            SELECT d.device_id FROM devices d
            WHERE d.user_id = '' AND NOT d.transient AND \(sql: isOfNetwork)
                AND (d.network_id, d.device_id) > (p.network_id, \(last.rawValue))
            ORDER BY d.network_id, d.device_id
            LIMIT \(limit + 1)
        ) AS walked
        LEFT JOIN LATERAL (
            \(sql: DeviceRow.device(where: "d.device_id = walked.device_id AND d.broadcasts")) LIMIT 1
        ) AS d ON true
        \(sql: DeviceRow.owner("d.user_id"))
        ORDER BY walked.device_id
        """
    }

    private func subscribedUsers(_ tags: [TagID], after last: UserID) -> SQL {
        """
        SELECT walked.since, \(sql: DeviceRow.columns)
        FROM \(sql: channelRow)
        CROSS JOIN LATERAL (\(sql: subscribers(to: tags, .user, after: last.rawValue))) AS walked
        LEFT JOIN LATERAL (
            \(sql: DeviceRow.device(where: "d.user_id = walked.subject_id")) LIMIT \(rowLimit)
        ) AS d ON true
        \(sql: DeviceRow.owner("walked.subject_id"))
        ORDER BY walked.subject_id
        LIMIT \(rowLimit + 1)
        """
    }

    /// For each device that subscribes, all of its owner's that do, with when the owner did, if they did: who counts, and
    /// where, is seen from those.
    private func subscribedDevices(_ tags: [TagID], after last: DeviceID) -> SQL {
        """
        SELECT walked.subject_id, d.since, d.user_since, \(sql: DeviceRow.columns)
        FROM \(sql: channelRow)
        CROSS JOIN LATERAL (\(sql: subscribers(to: tags, .device, after: last.rawValue))) AS walked
        LEFT JOIN LATERAL (
            SELECT h.user_id FROM devices h
            WHERE h.network_id = p.network_id AND h.device_id = walked.subject_id AND h.state = 'active'
            LIMIT 1
        ) AS h ON true
        LEFT JOIN LATERAL (
            SELECT owned.*, other.since, (
                SELECT min(s.since::text)::uuid FROM unnest(\(tags.map(\.rawValue))) AS t (tag)
                CROSS JOIN LATERAL (
                    SELECT s.since FROM subscriptions s
                    WHERE s.network_id = p.network_id AND s.tag = t.tag AND s.kind = 'user'
                        AND s.subject_id = owned.user_id AND \(sql: .isInForce)
                    LIMIT 1
                ) AS s
            ) AS user_since
            FROM (
                (\(sql: DeviceRow.device(where: "h.user_id = '' AND d.device_id = walked.subject_id")) LIMIT 1)
                UNION ALL
                (\(sql: DeviceRow.device(where: "h.user_id <> '' AND d.user_id = h.user_id")) LIMIT \(rowLimit))
            ) AS owned
            CROSS JOIN LATERAL (
                SELECT min(s.since::text)::uuid AS since FROM unnest(\(tags.map(\.rawValue))) AS t (tag)
                CROSS JOIN LATERAL (
                    SELECT s.since FROM subscriptions s
                    WHERE s.network_id = p.network_id AND s.tag = t.tag AND s.kind = 'device'
                        AND s.subject_id = owned.device_id AND \(sql: .isInForce)
                    LIMIT 1
                ) AS s
            ) AS other
            WHERE other.since IS NOT NULL
        ) AS d ON true
        \(sql: DeviceRow.owner("d.user_id"))
        ORDER BY walked.subject_id
        LIMIT \(rowLimit + 1)
        """
    }

    /// The subscribers to any of the tags, each once, in the order of their ids.
    private func subscribers(to tags: [TagID], _ kind: Subscriber.Kind, after last: String) -> SQL {
        """
        SELECT each.subject_id, min(each.since::text)::uuid AS since
        FROM unnest(\(tags.map(\.rawValue))) AS t (tag)
        CROSS JOIN LATERAL (
            SELECT s.subject_id, s.since FROM subscriptions s
            WHERE s.network_id = p.network_id AND s.tag = t.tag AND s.kind = \(kind.rawValue)
                AND s.subject_id > \(last) AND \(sql: .isInForce)
            ORDER BY s.network_id, s.tag, s.kind, s.subject_id
            LIMIT \(limit + 1)
        ) AS each
        GROUP BY each.subject_id
        ORDER BY each.subject_id
        LIMIT \(limit + 1)
        """
    }

    /// Whether device `d`, which stands behind another one of the network, is of it, too. Beside an equality the comparison of rows would
    /// not say where the walk begins: PostgreSQL would go along all devices of the former pages.
    private var isOfNetwork: SQL { isFurther ? "d.network_id <= p.network_id" : "d.network_id = p.network_id" }

    private var channelRow: SQL {
        """
        (SELECT \(channel.network.rawValue)::text COLLATE "C" AS network_id,
                \(channel.channel.rawValue)::text COLLATE "C" AS channel_id) AS p
        """
    }
}

extension DeviceID {
    /// Stands before all devices: an id that none has.
    fileprivate static let beforeAll = DeviceID(trusted: "")
}
