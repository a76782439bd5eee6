import CarillonCore
import Foundation
import Postgres

/// Looks for a network's events, newest first, by their ids: an index for each thing that can be asked for would be written with
/// every event, for few questions. So a page looks at so many of them at the most, and says how far it came.
struct EventSearch {
    /// By how much an event's id may be younger than the moment at which it was accepted: ids do not go back with a clock.
    private static let idDelay = UUIDv7Generator.longestLead

    private typealias Part = (ids: [EventID], last: UUID?, count: Int)

    let network: NetworkID
    let filter: EventFilter
    /// How many events a page looks at when not all of them match.
    var reach = 10_000
    /// How many of these it looks at first: mostly that is enough.
    var firstStep = 500

    /// The ids of a page, and the last event that was looked at if there are more behind it.
    func page(
        before: EventID?,
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> (ids: [EventID], next: EventID?) {
        let reach = filter.needsLook ? max(reach, limit + 1) : limit + 1
        var step = filter.needsLook ? max(firstStep, limit + 1) : reach
        var start = before?.uuid ?? .largest
        var (ids, looked): ([EventID], Int) = ([], 0)
        try session.walkAlongIndexes()
        while true {
            let count = min(step, reach - looked)
            let part = try look(at: count, before: start, limit: limit + 1 - ids.count, session)
            ids += part.ids
            looked += part.count
            if ids.count > limit || part.count < count || looked == reach {
                // What follows is planned for good, and shall not remember this.
                try session.walkAlongIndexes(only: false)
                if ids.count > limit { return (Array(ids.prefix(limit)), ids[limit - 1]) }
                return (ids, part.count < count ? nil : part.last.map(EventID.init))
            }
            start = part.last ?? start
            step *= 4
        }
    }

    /// Looks at so many events, at the most; answers which of them match, the last one and how many there were.
    private func look(
        at count: Int,
        before start: UUID,
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> Part {
        let range = isInRange(before: start)
        let found = try session.queryQueue(
            """
            WITH looked AS MATERIALIZED (
                (SELECT network_id, event_id, event_type, channel_id, actor_id, 'done' AS state
                 FROM events WHERE \(sql: range) ORDER BY event_id DESC LIMIT \(count))
                UNION ALL
                (SELECT network_id, event_id, event_type, channel_id, actor_id,
                        CASE WHEN cursor IS NULL THEN 'accepted' ELSE 'delivering' END
                 FROM inbox WHERE \(sql: range) ORDER BY event_id DESC LIMIT \(count))
                ORDER BY event_id DESC LIMIT \(count)
            )
            SELECT f.event_id, e.last, e.count
            FROM (SELECT (SELECT event_id FROM looked ORDER BY event_id LIMIT 1) AS last,
                         (SELECT count(*) FROM looked) AS count) AS e
            LEFT JOIN LATERAL (
                SELECT l.event_id FROM looked l WHERE \(sql: matches)
                ORDER BY l.event_id DESC LIMIT \(limit)
            ) AS f ON true
            """
        ) { row in
            (
                id: try row.decode(0, as: UUID?.self), last: try row.decode(1, as: UUID?.self),
                count: try row.decode(2, as: Int.self)
            )
        }
        return (found.compactMap(\.id).map(EventID.init), found.first?.last, found.first?.count ?? 0)
    }

    /// The range of ids; what it holds too much at its ends is not looked at.
    private func isInRange(before start: UUID) -> SQL {
        let end = filter.to.map { UUID.version7Floor(of: $0 + Self.idDelay) } ?? .largest
        let floor = filter.from.map(UUID.version7Floor) ?? .smallest
        var range: SQL = """
            network_id = \(network.rawValue) AND event_id < \(start) AND event_id < \(end) AND event_id >= \(floor)
            """
        if let from = filter.from { range = range + " AND received_at >= \(from.stored)" }
        if let to = filter.to { range = range + " AND received_at < \(to.stored)" }
        return range
    }

    private var matches: SQL {
        var conditions: SQL = "true"
        if let type = filter.type { conditions = conditions + " AND l.event_type = \(type.rawValue)" }
        if let channel = filter.channelID { conditions = conditions + " AND l.channel_id = \(channel.rawValue)" }
        if let actor = filter.actorID { conditions = conditions + " AND l.actor_id = \(actor.rawValue)" }
        switch filter.state {
        case nil: break
        case .accepted: conditions = conditions + " AND l.state = 'accepted'"
        case .delivering:
            conditions = conditions + " AND (l.state = 'delivering' OR l.state = 'done' AND \(sql: Self.isWaiting))"
        case .done: conditions = conditions + " AND l.state = 'done' AND NOT \(sql: Self.isWaiting)"
        }
        return conditions
    }

    private static let isWaiting: SQL = """
        EXISTS (SELECT FROM deliveries d
                WHERE d.event_id = l.event_id AND greatest(d.network_id) = l.network_id AND d.provider <> 'relay')
        """
}

extension EventFilter {
    /// Whether there may be events in the range of times that do not match.
    fileprivate var needsLook: Bool {
        type != nil || channelID != nil || actorID != nil || state != nil
    }
}
