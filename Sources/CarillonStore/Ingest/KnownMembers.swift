import CarillonCore
import Postgres

/// Who of those whom messages say to be members is one already. Nothing has to be written of them, so that a message costs a
/// look at its sender's membership and not a row.
///
/// The look is taken in the round trip that claims the events' ids, a moment before what follows from them is written.
/// Whoever leaves in between leaves at the same time as the message was sent, and either order is right.
struct KnownMembers {
    private let asked: [MemberKey]
    /// The marks of what made them members.
    private var since: [MemberKey: EventMark] = [:]

    /// Readies a look at these memberships.
    init(among keys: [MemberKey]) {
        asked = keys
    }

    /// What looks, if there is anything to look at.
    var statements: [SQL] {
        guard !asked.isEmpty else { return [] }
        return [
            """
            SELECT n.position, m.since_event
            FROM unnest(\(asked.map(\.network.rawValue)), \(asked.map(\.channel.rawValue)),
                        \(asked.map(\.user.rawValue))) WITH ORDINALITY AS n (network_id, channel_id, user_id, position)
            \(sql: .membership)
            CROSS JOIN LATERAL (
                SELECT c.emptied_at FROM channels c
                WHERE c.network_id = n.network_id AND c.channel_id = n.channel_id AND NOT c.deleted
                LIMIT 1
            ) AS c
            CROSS JOIN LATERAL (
                SELECT u.wiped_at FROM users u
                WHERE u.network_id = n.network_id AND u.user_id = n.user_id AND NOT u.deleted
                LIMIT 1
            ) AS u
            WHERE m.is_member
                AND (c.emptied_at IS NULL OR m.facts_at > c.emptied_at) AND (u.wiped_at IS NULL OR m.facts_at > u.wiped_at)
            """
        ]
    }

    /// Takes in what the statements answered.
    mutating func take(_ answers: some Sequence<StatementResult>) throws {
        for answer in answers {
            try answer.forEach { row in
                since[asked[try row.decode(0, as: Int.self) - 1]] = try row.decode(1, as: EventMark.self)
            }
        }
    }

    /// Facts without those that tell nothing new.
    ///
    /// - Parameters:
    ///   - facts: What the events say that turned out to be new.
    ///   - mark: The mark of an event. Who became a member by one that stands behind it was none before, as far as is
    ///     written: that has to be put right, for the event to reach them.
    /// - Returns: What is left to be written.
    func leftOut(of facts: DirectoryFacts, mark: (EventID) -> EventMark) -> DirectoryFacts {
        guard !since.isEmpty else { return facts }
        let known = since.filter { key, since in
            facts.members[key].map { $0.isImplied && since < mark(EventID($0.sinceEvent)) } ?? false
        }
        return facts.without(known.keys)
    }
}
