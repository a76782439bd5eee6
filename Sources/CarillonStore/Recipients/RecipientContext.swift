import CarillonCore
import Foundation
import Postgres

/// What the answers of one moment need beside the people: networks' settings, the names that texts hold, and the positions of events in the
/// order of acceptance. Read by one statement.
struct RecipientContext {
    private enum Kind: Int {
        case mark
        case network
        case template
        case channel
        case person
        case member
        case withdrawal
    }

    private var marks: [EventID: EventMark] = [:]
    private var networks: [NetworkID: (toggles: NetworkToggles, defaultLocale: String?)] = [:]
    private var templates: [TemplateKind: [StoredTemplate]] = [:]
    private var channels: [ChannelKey: Channel] = [:]
    private var people: [UserKey: String] = [:]
    private var roles: [UserKey: [String]] = [:]
    /// Since when messages are deleted.
    private var withdrawals: [WithdrawalKey: Timestamp] = [:]
    /// Who is or was a member, with the mark of what made them one last.
    private var since: [MemberKey: (isMember: Bool, mark: EventMark)] = [:]

    static let columns = ["integer", "text", "text", "text", "text", "uuid"]

    init(_ answer: AnswerPart) throws {
        try answer.forEach { row, first in try add(row, first) }
        for kind in templates.keys { templates[kind]?.sort { $0.locale < $1.locale } }
    }

    static func statement(for queries: [RecipientQuery]) -> SQL {
        let networks = Set(queries.map(\.networkID)).sorted().map(\.rawValue)
        let types = Set(queries.map(\.event.type.rawValue)).sorted()
        let channels = Set(queries.compactMap(\.undescribedChannel)).sorted()
        let people = Set(queries.flatMap(\.unnamed)).sorted()
        let members = Set(queries.flatMap(\.questioned)).sorted()
        let messages = Set(queries.compactMap(\.messageKey)).sorted()
        let events = queries.filter { $0.mark == nil }.compactMap { query in
            query.eventID.map { (network: query.networkID, id: $0) }
        }
        let usual: SQL = """
            SELECT \(Kind.network.rawValue)::integer, w.network_id, NULL::text, n.toggles, n.default_locale, NULL::uuid
            FROM unnest(\(networks)) AS w (network_id)
            CROSS JOIN LATERAL (
                SELECT n.toggles, n.default_locale FROM networks n WHERE n.network_id = w.network_id LIMIT 1
            ) AS n
            UNION ALL
            SELECT \(Kind.template.rawValue)::integer, t.network_id, t.event_type, t.locale, t.source, NULL
            FROM templates t WHERE t.network_id = ANY (\(networks)) AND t.event_type = ANY (\(types))
            UNION ALL
            SELECT \(Kind.channel.rawValue)::integer, n.network_id, n.channel_id,
                   coalesce(nullif(c.display_name, ''), nullif(c.fallback_name, ''), c.display_name, c.fallback_name),
                   CASE WHEN c.direct THEN 'direct' END, NULL
            FROM unnest(\(channels.map(\.network.rawValue)), \(channels.map(\.channel.rawValue)))
                AS n (network_id, channel_id)
            CROSS JOIN LATERAL (
                SELECT c.display_name, c.fallback_name, c.direct FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id
                    AND (c.display_name IS NOT NULL OR c.fallback_name IS NOT NULL OR c.direct IS NOT NULL)
                LIMIT 1
            ) AS c
            UNION ALL
            SELECT \(Kind.person.rawValue)::integer, n.network_id, n.user_id, u.display_name, u.roles, NULL
            FROM unnest(\(people.map(\.network.rawValue)), \(people.map(\.user.rawValue))) AS n (network_id, user_id)
            CROSS JOIN LATERAL (
                SELECT u.display_name, u.roles FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id
                LIMIT 1
            ) AS u
            UNION ALL
            SELECT \(Kind.withdrawal.rawValue)::integer, w.network_id, NULL,
                   floor(extract(epoch FROM w.withdrawn_at) * 1000)::bigint::text, NULL, w.event_id
            FROM unnest(\(messages.map(\.network.rawValue)), \(messages.map(\.id))) AS n (network_id, event_id)
            CROSS JOIN LATERAL (
                SELECT w.network_id, w.event_id, w.withdrawn_at FROM withdrawals w
                WHERE w.network_id = n.network_id AND w.event_id = n.event_id
                LIMIT 1
            ) AS w
            """
        // Rare: what was claimed instead of handed on, and who joins. Two shapes are few enough to be prepared both.
        if events.isEmpty, members.isEmpty { return usual }
        return usual + """

            UNION ALL
            SELECT \(Kind.mark.rawValue)::integer, NULL::text, NULL::text, n.event_id::text, NULL::text,
                   coalesce(i.mark, i.event_id)
            FROM unnest(\(events.map(\.network.rawValue)), \(events.map(\.id.uuid))) AS n (network_id, event_id)
            JOIN inbox i ON \(sql: .hasKey("i", "event_id", of: "n"))
            UNION ALL
            SELECT \(Kind.member.rawValue)::integer, n.network_id, n.channel_id, n.user_id,
                   CASE WHEN m.is_member AND (c.emptied_at IS NULL OR m.facts_at > c.emptied_at)
                            AND (u.wiped_at IS NULL OR m.facts_at > u.wiped_at) THEN 'member' END, m.since_event
            FROM unnest(\(members.map(\.network.rawValue)), \(members.map(\.channel.rawValue)),
                        \(members.map(\.user.rawValue))) AS n (network_id, channel_id, user_id)
            \(sql: .membership)
            \(sql: .endOfBoth)
            """
    }

    /// Those of an event's joiners who were members before it. Of an event without a mark, which is not accepted yet, they are
    /// all who are members.
    func membersFromBefore(_ query: RecipientQuery) -> Set<UserID> {
        let mark = mark(of: query)
        return Set(
            query.questioned.filter { key in
                guard let since = since[key] else { return false }
                return mark.map { since.mark < $0 } ?? since.isMember
            }.map(\.user)
        )
    }

    /// Where an event is in the order of acceptance; `nil` when it is not in the inbox, as one that is only thought of.
    func mark(of query: RecipientQuery) -> EventMark? { query.mark ?? query.eventID.flatMap { marks[$0] } }

    /// Whether a message was deleted after it was sent.
    func isDeleted(_ query: RecipientQuery) -> Bool {
        // By its sender's clock it may be from the future.
        let received = query.eventID.map { Timestamp(milliseconds: $0.milliseconds) } ?? query.event.timestamp
        return query.messageKey.flatMap { withdrawals[$0] }.map { min(query.event.timestamp, received) <= $0 } ?? false
    }

    /// What an event's network decides.
    func settings(for query: RecipientQuery, _ overrides: OverrideCache<TemplateKind, StoredTemplate>)
        -> NetworkSettings
    {
        let network = networks[query.networkID]
        let kind = TemplateKind(network: query.networkID, eventType: query.event.type.rawValue)
        return NetworkSettings(
            toggles: network?.toggles ?? NetworkToggles(),
            defaultLocale: network?.defaultLocale,
            templates: overrides.overrides(of: kind, templates[kind] ?? [])
        )
    }

    /// The names that texts about an event can hold, and what else they depend on.
    func names(for query: RecipientQuery) -> DirectoryNames {
        let channel = query.channelKey.flatMap { channels[$0] }
        var names = DirectoryNames(
            channel: query.event.unnamedChannel == nil ? nil : channel?.displayName,
            isDirect: channel?.isDirect ?? false
        )
        for key in query.unnamed {
            names.people[key.user] = people[key]
            names.roles[key.user] = roles[key]
        }
        return names
    }

    /// Whether anything is known of an event's channel itself, by the event or from before.
    func describesChannel(of query: RecipientQuery) -> Bool {
        query.undescribedChannel.map { channels[$0] != nil } ?? true || query.event.unnamedChannel == nil
    }

    private mutating func add(_ row: borrowing Row, _ first: Int) throws {
        guard let kind = Kind(rawValue: Int(try row.decode(first, as: Int32.self))) else {
            throw StoreError.unreadable("context of events")
        }
        switch kind {
        case .mark:
            guard let id = EventID(try row.decode(first + 3, as: String.self)) else {
                throw StoreError.unreadable("event id")
            }
            marks[id] = try row.decode(first + 5, as: EventMark.self)
        case .network:
            networks[try row.id(first + 1)] = (
                try row.decode(first + 3, as: String?.self).map(ToggleDocuments.network) ?? NetworkToggles(),
                try row.decode(first + 4)
            )
        case .template:
            let template = StoredTemplate(
                eventType: try row.decode(first + 2),
                locale: try row.decode(first + 3),
                source: try row.decode(first + 4)
            )
            let key = TemplateKind(network: try row.id(first + 1), eventType: template.eventType)
            templates[key, default: []].append(template)
        case .channel:
            let channel = Channel(
                id: try row.id(first + 2),
                displayName: try row.decode(first + 3),
                isDirect: !row.isNull(first + 4)
            )
            channels[ChannelKey(network: try row.id(first + 1), channel: channel.id)] = channel
        case .person:
            let key = UserKey(network: try row.id(first + 1), user: try row.id(first + 2))
            people[key] = try row.decode(first + 3, as: String?.self)
            roles[key] = try row.decode(first + 4, as: String?.self).flatMap(StoredRoles.roles)
        case .withdrawal:
            guard let moment = Int64(try row.decode(first + 3, as: String.self)) else {
                throw StoreError.unreadable("moment")
            }
            let key = WithdrawalKey(network: try row.id(first + 1), id: try row.decode(first + 5))
            withdrawals[key] = Timestamp(milliseconds: moment)
        case .member:
            let key = MemberKey(
                network: try row.id(first + 1),
                channel: try row.id(first + 2),
                user: try row.id(first + 3)
            )
            since[key] = (!row.isNull(first + 4), try row.decode(first + 5, as: EventMark.self))
        }
    }
}

/// The templates of a network for one type of events.
struct TemplateKind: Hashable, Sendable {
    let network: NetworkID
    let eventType: String
}

extension RecipientQuery {
    /// The channel that the event happened in.
    var channelKey: ChannelKey? { event.channel.map { ChannelKey(network: networkID, channel: $0.id) } }

    /// That channel, or one in which nobody is: there is none without a name.
    var channelOrNone: ChannelKey { channelKey ?? ChannelKey(network: networkID, channel: ChannelID(trusted: "")) }

    /// The channel of which the event does not say what a text needs.
    fileprivate var undescribedChannel: ChannelKey? {
        event.undescribedChannel.map { ChannelKey(network: networkID, channel: $0) }
    }

    /// The memberships of which it has to be known whether they were there before.
    fileprivate var questioned: [MemberKey] {
        guard let channel = event.channel else { return [] }
        return event.questionedMembers.map { MemberKey(network: networkID, channel: channel.id, user: $0) }
    }

    /// What an accepted message is taken back by.
    fileprivate var messageKey: WithdrawalKey? {
        guard eventID != nil, event.type.notifies, let key = event.messageKey else { return nil }
        return WithdrawalKey(network: networkID, id: key.uuid)
    }

    /// The people of whom the event does not say what a text or a verdict needs.
    fileprivate var unnamed: [UserKey] { event.unnamedPeople.map { UserKey(network: networkID, user: $0) } }
}

struct StoredTemplate: Sendable, Hashable {
    var eventType: String
    var locale: String
    var source: String
}

extension CompiledTemplate {
    /// A stored template; `nil` when it no longer compiles.
    init?(stored: StoredTemplate) {
        guard let type = EventType(known: stored.eventType), let locale = LocaleTag(stored.locale),
            let source = try? TemplateSource(stored: stored.source),
            let compiled = try? CompiledTemplate(source, for: type, locale: locale)
        else { return nil }
        self = compiled
    }
}
