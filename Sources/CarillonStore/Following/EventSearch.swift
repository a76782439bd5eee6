import CarillonCore
import Foundation
import Postgres

/// Looks for a network's events, newest first, by their ids: an index for each thing that can be asked for would be written with
/// every event, for few questions. So a page looks at so many of them at the most, and says how far it came.
struct EventSearch {
    /// How many events a page looks at when not all of them match.
    static let reach = 10_000
    /// By how much an event's id may be younger than the moment at which it was accepted.
    private static let idDelay = Duration.seconds(1)

    let network: NetworkID
    let filter: EventFilter

    /// The ids of a page, and the last event that was looked at if there are more behind it.
    func page(
        before: EventID?,
        limit: Int,
        _ session: borrowing PostgresSession
    ) throws -> (ids: [EventID], next: EventID?) {
        let reach = filter.needsLook ? max(Self.reach, limit + 1) : limit + 1
        let start = before?.uuid ?? Self.endOfTime
        let end = filter.to.map { UUID.version7Floor(of: $0 + Self.idDelay) } ?? Self.endOfTime
        let floor = filter.from.map(UUID.version7Floor) ?? Self.beginning
        let isInRange: SQL = """
            network_id = \(network.rawValue) AND event_id < \(start) AND event_id < \(end) AND event_id >= \(floor)
            """
        try session.walkAlongIndexes()
        let found = try session.queryQueue(
            """
            WITH looked AS MATERIALIZED (
                (SELECT network_id, event_id, event_type, channel_id, actor_id, received_at, 'done' AS state
                 FROM events WHERE \(sql: isInRange) ORDER BY event_id DESC LIMIT \(reach))
                UNION ALL
                (SELECT network_id, event_id, event_type, channel_id, actor_id, received_at,
                        CASE WHEN cursor IS NULL THEN 'accepted' ELSE 'delivering' END
                 FROM inbox WHERE \(sql: isInRange) ORDER BY event_id DESC LIMIT \(reach))
                ORDER BY event_id DESC LIMIT \(reach)
            )
            SELECT f.event_id, e.last, e.count
            FROM (SELECT (SELECT event_id FROM looked ORDER BY event_id LIMIT 1) AS last,
                         (SELECT count(*) FROM looked) AS count) AS e
            LEFT JOIN LATERAL (
                SELECT l.event_id FROM looked l WHERE \(sql: matches)
                ORDER BY l.event_id DESC LIMIT \(limit + 1)
            ) AS f ON true
            """
        ) { row in
            (
                id: try row.decode(0, as: UUID?.self), last: try row.decode(1, as: UUID?.self),
                count: try row.decode(2, as: Int.self)
            )
        }
        let ids = found.compactMap(\.id).map(EventID.init)
        if ids.count > limit { return (Array(ids.prefix(limit)), ids[limit - 1]) }
        guard let end = found.first, end.count == reach else { return (ids, nil) }
        return (ids, end.last.map(EventID.init))
    }

    private var matches: SQL {
        var conditions: SQL = "true"
        if let type = filter.type { conditions = conditions + " AND l.event_type = \(type.rawValue)" }
        if let channel = filter.channelID { conditions = conditions + " AND l.channel_id = \(channel.rawValue)" }
        if let actor = filter.actorID { conditions = conditions + " AND l.actor_id = \(actor.rawValue)" }
        if let from = filter.from { conditions = conditions + " AND l.received_at >= \(from.stored)" }
        if let to = filter.to { conditions = conditions + " AND l.received_at < \(to.stored)" }
        switch filter.state {
        case nil: break
        case .accepted: conditions = conditions + " AND l.state = 'accepted'"
        case .delivering:
            conditions = conditions + " AND (l.state = 'delivering' OR l.state = 'done' AND \(sql: Self.isWaiting))"
        case .done: conditions = conditions + " AND l.state = 'done' AND NOT \(sql: Self.isWaiting)"
        }
        return conditions
    }

    /// Whether devices of an event wait.
    private static let isWaiting: SQL = """
        EXISTS (SELECT FROM deliveries d
                WHERE d.network_id = l.network_id AND d.event_id = l.event_id AND d.provider <> 'relay')
        """
    /// Smaller and larger than every UUIDv7.
    private static let beginning = UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0))
    private static let endOfTime = UUID(
        uuid: (255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255)
    )
}

extension EventFilter {
    /// Whether there may be events in the range of ids that do not match.
    fileprivate var needsLook: Bool {
        type != nil || channelID != nil || actorID != nil || state != nil || from != nil || to != nil
    }
}
