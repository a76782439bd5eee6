package import CarillonCore
import Foundation
package import Postgres

/// Looks at many networks at once. What is read of each is bounded.
package struct PostgresNetworkReportSource: NetworkReportSource {
    /// How many certificates of a network are looked at.
    private static let mostCertificates = 1_000

    private let pool: PostgresPool
    private let outbox: PostgresOutbox

    /// A source in the database of `pool`, with `outbox` for what is due in it.
    package init(pool: PostgresPool, outbox: PostgresOutbox) {
        self.pool = pool
        self.outbox = outbox
    }

    package func namedNetworks() async throws -> [NamedNetwork] {
        try await pool.query(
            "SELECT network_id, display_name FROM networks WHERE \(sql: .isHere) ORDER BY network_id"
        ) { row in
            NamedNetwork(id: try row.id(0), displayName: try row.decode(1))
        }
    }

    package func oldestWaits(of networks: [NetworkID]) async throws -> [NetworkID: Duration] {
        let asked = Set(networks)
        return try await outbox.oldestWaits().filter { asked.contains($0.key) }
    }

    package func troubles(of networks: [NetworkID], at now: Timestamp) async throws -> [NetworkID: [NetworkTrouble]] {
        let ids = networks.map(\.rawValue)
        return try await pool.snapshot { session in
            var troubles: [NetworkID: [NetworkTrouble]] = [:]
            func add(_ found: [(NetworkID, NetworkTrouble)]) {
                for (network, trouble) in found { troubles[network, default: []].append(trouble) }
            }
            let lanes = try LaneRows.read(
                """
                WHERE network_id = ANY (\(ids)) AND provider <> 'relay'
                    AND (paused_since IS NOT NULL OR braked_since IS NOT NULL)
                """,
                session
            )
            for (network, lanes) in Dictionary(grouping: lanes.lanes, by: \.key.networkID) {
                let found = lanes.flatMap { NetworkTrouble.troubles(of: LaneStatus(lane: $0, $1)) }
                    .sorted { ($0.kind, $0.name) < ($1.kind, $1.name) }
                for kind in [NetworkTrouble.Kind.lane, .brake] {
                    add(found.filter { $0.kind == kind }.prefix(NetworkTrouble.mostOfKind).map { (network, $0) })
                }
            }
            add(try Self.missingCredentials(of: ids, session))
            add(try Self.endingCredentials(of: ids, at: now, session))
            add(try Self.deadLetters(of: ids, session))
            add(try Self.endpoints(of: ids, session))
            add(try Self.sources(of: ids, session))
            return troubles
        }
    }

    /// Those apps with devices that have no credential, or, of browsers, a key pair that nobody answers for. Each app is one step in an
    /// index, however many devices it has.
    private static func missingCredentials(
        of ids: [String],
        _ session: borrowing PostgresSession
    ) throws -> [(NetworkID, NetworkTrouble)] {
        func hasCredential(_ app: SQL) -> SQL {
            """
            EXISTS (SELECT FROM provider_credentials c
                    WHERE c.network_id = n.network_id AND c.provider = p.provider AND c.app_id = \(sql: app))
            """
        }
        func providers(_ lanes: ProviderKind.Lanes) -> [String] {
            ProviderName.allCases.filter { $0.kind.isPushService && $0.kind.lanes == lanes }.map(\.rawValue)
        }
        let areMeant: SQL = "d.network_id = n.network_id AND NOT d.transient AND d.provider = p.provider"
        return try session.query(
            """
            SELECT n.network_id, p.provider, a.app_id, false
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN unnest(\(providers(.byApp))) AS p (provider)
            CROSS JOIN LATERAL (
                WITH RECURSIVE walk AS (\(sql: .walk(over: ["app_id"], in: "devices", called: "d", where: areMeant)))
                SELECT app_id FROM walk LIMIT \(AppReader.mostApps)
            ) AS a
            CROSS JOIN LATERAL (
                SELECT FROM devices d WHERE \(sql: areMeant) AND d.state = 'active' AND d.app_id = a.app_id LIMIT 1
            ) AS present
            WHERE NOT \(sql: hasCredential("a.app_id"))
            UNION ALL
            SELECT n.network_id, p.provider, '', \(sql: hasCredential("''"))
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN unnest(\(providers(.byHost))) AS p (provider)
            CROSS JOIN LATERAL (
                SELECT FROM devices d WHERE \(sql: areMeant) AND d.state = 'active' LIMIT 1
            ) AS present
            WHERE NOT EXISTS (SELECT FROM provider_credentials c
                              WHERE c.network_id = n.network_id AND c.provider = p.provider AND c.app_id = ''
                                  AND c.identity NOT LIKE '%"subject":null%')
            """
        ) { row in
            let network = try row.id(0, of: Network.self)
            let lane = Lane(networkID: network, provider: try row.choice(1), appID: try row.decode(2))
            return (network, try row.decode(3) ? .missingSubject(of: lane) : .missingCredential(of: lane))
        }
    }

    private static func endingCredentials(
        of ids: [String],
        at now: Timestamp,
        _ session: borrowing PostgresSession
    ) throws -> [(NetworkID, NetworkTrouble)] {
        try session.query(
            """
            SELECT n.network_id, c.provider, c.app_id, c.identity
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN LATERAL (
                SELECT c.provider, c.app_id, c.identity FROM provider_credentials c
                WHERE c.network_id = n.network_id AND c.identity LIKE '%"notAfter"%'
                ORDER BY c.provider, c.app_id LIMIT \(mostCertificates)
            ) AS c
            """
        ) { row -> (NetworkID, NetworkTrouble)? in
            let network = try row.id(0, of: Network.self)
            let lane = Lane(networkID: network, provider: try row.choice(1), appID: try row.decode(2))
            guard case .object(let identity)? = try? JSONValue(parsing: try row.decode(3, as: String.self)),
                let trouble = NetworkTrouble.endingCredential(of: lane, identity, at: now)
            else { return nil }
            return (network, trouble)
        }.compactMap(\.self)
    }

    private static func deadLetters(
        of ids: [String],
        _ session: borrowing PostgresSession
    ) throws -> [(NetworkID, NetworkTrouble)] {
        try session.query(
            """
            SELECT n.network_id, l.provider, l.app_id, count(*), min(l.at)
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN LATERAL (
                SELECT d.provider, d.app_id, d.at FROM dead_letters d WHERE d.network_id = n.network_id
                ORDER BY d.letter_id LIMIT \(NetworkTrouble.mostLetters)
            ) AS l
            GROUP BY n.network_id, l.provider, l.app_id
            """
        ) { row in
            let network = try row.id(0, of: Network.self)
            let lane = Lane(networkID: network, provider: try row.choice(1), appID: try row.decode(2))
            return (network, .deadLetters(try row.decode(3), in: lane, since: try row.timestampIfAny(4)))
        }
    }

    private static func endpoints(
        of ids: [String],
        _ session: borrowing PostgresSession
    ) throws -> [(NetworkID, NetworkTrouble)] {
        try session.query(
            """
            SELECT \(sql: Row.endpointColumns), e.failing_since, n.network_id
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN LATERAL (
                SELECT \(sql: Row.endpointColumns), failing_since FROM endpoints e
                WHERE e.network_id = n.network_id
                    AND (e.state = 'disabled' OR e.failing_since IS NOT NULL
                         OR e.mode = 'intercept' AND e.last_error IS NOT NULL)
                ORDER BY e.endpoint_id LIMIT \(NetworkTrouble.mostOfKind)
            ) AS e
            """
        ) { row -> (NetworkID, NetworkTrouble)? in
            // What only a later release can read is for that one to judge.
            guard let endpoint = try? row.endpoint() else { return nil }
            return (try row.id(12), .endpoint(endpoint, failingSince: try row.timestampIfAny(11)))
        }.compactMap(\.self)
    }

    private static func sources(
        of ids: [String],
        _ session: borrowing PostgresSession
    ) throws -> [(NetworkID, NetworkTrouble)] {
        try session.query(
            """
            SELECT n.network_id, s.source_id, s.failures, s.failing_since, s.last_error
            FROM unnest(\(ids)) AS n (network_id)
            CROSS JOIN LATERAL (
                SELECT s.source_id, s.failures, s.failing_since, s.last_error FROM sources s
                WHERE s.network_id = n.network_id AND s.enabled AND s.failures > 0
                ORDER BY s.source_id LIMIT \(NetworkTrouble.mostOfKind)
            ) AS s
            """
        ) { row in
            let failures = Int(try row.decode(2, as: Int32.self))
            let since = try row.timestampIfAny(3)
            return (try row.id(0), .source(try row.id(1), failures: failures, since: since, error: try row.decode(4)))
        }
    }

    package func figures(
        of networks: [NetworkID],
        refusingSince moment: Timestamp,
        asked: Set<NetworkID>,
        without known: [StatisticsRow]
    ) async throws -> [StatisticsRow] {
        try await pool.query(
            """
            SELECT n.network_id, m.at, m.figures
            FROM unnest(\(networks.map(\.rawValue)), \(networks.map(asked.contains))) AS n (network_id, asked)
            CROSS JOIN LATERAL (
                SELECT m.at, m.figures, bool_or(m.refused > 0) OVER () AS refuses FROM statistics_minutes m
                WHERE m.network_id = n.network_id AND m.at >= \(moment.stored) AND \(sql: Self.isNews(known))
            ) AS m
            WHERE n.asked OR m.refuses
            """
        ) { row in try row.statistics(at: 1, of: row.id(0)) }
    }

    package func activities(
        of networks: [NetworkID],
        since moment: Timestamp,
        without known: [StatisticsRow]
    ) async throws -> [NetworkID: NetworkActivity] {
        let rows = try await pool.query(
            """
            SELECT n.network_id, counted.events, late.event_id IS NOT NULL,
                   late.event_id IS NOT NULL OR early.event_id IS NOT NULL OR hour.at IS NOT NULL
            FROM unnest(\(networks.map(\.rawValue))) AS n (network_id)
            CROSS JOIN LATERAL (
                SELECT coalesce(sum(m.accepted), 0)::bigint AS events FROM statistics_minutes m
                WHERE m.network_id = n.network_id AND m.at >= \(moment.stored) AND \(sql: Self.isNews(known))
            ) AS counted
            LEFT JOIN LATERAL (
                SELECT e.event_id FROM events e
                WHERE e.network_id = n.network_id
                    AND e.event_id >= \(UUID.version7Floor(of: moment + .seconds(3_600) - NetworkActivity.day))
                LIMIT 1
            ) AS late ON true
            LEFT JOIN LATERAL (
                SELECT e.event_id FROM events e WHERE e.network_id = n.network_id LIMIT 1
            ) AS early ON late.event_id IS NULL
            LEFT JOIN LATERAL (
                SELECT h.at FROM statistics_hours h
                WHERE h.network_id = n.network_id AND h.figures NOT LIKE '{"e":{}%' LIMIT 1
            ) AS hour ON late.event_id IS NULL AND early.event_id IS NULL
            """
        ) { row in
            let events = try row.decode(1, as: Int.self)
            let activity = NetworkActivity(
                events: events,
                isOfLastDay: try row.decode(2),
                isKnown: try row.decode(3)
            )
            return (try row.id(0, of: Network.self), activity)
        }
        return Dictionary(rows, uniquingKeysWith: { $1 })
    }

    /// Whether a row of minutes, called `m`, is none of those that one replica knows.
    private static func isNews(_ known: [StatisticsRow]) -> SQL {
        let origins = known.compactMap(\.origin)
        guard let replica = origins.first?.replica else { return "true" }
        return "(m.replica <> \(replica) OR m.number <> ALL (\(origins.map(\.number))))"
    }
}
