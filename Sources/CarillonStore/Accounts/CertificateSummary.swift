package import CarillonCore
package import Postgres

/// How long the certificates are still good for that networks are known by to APNs; keys never end.
package struct CertificateSummary: Sendable, Equatable {
    /// A certificate that is to be renewed.
    package struct Ending: Sendable, Hashable {
        package var networkID: NetworkID
        package var appID: String
        package var end: Timestamp
    }

    private static let mostNamed = 20

    /// How many are good for longer than that.
    package var current: Int
    /// How many end within that time.
    package var ending: Int
    package var ended: Int
    /// Those that end first, of those that are to be renewed or have ended.
    package var first: [Ending]
}

extension CertificateSummary {
    /// Looks at all networks' certificates.
    package init(_ pool: PostgresPool) async throws {
        let certificates: SQL = """
            WITH certificates AS MATERIALIZED (
                SELECT network_id, app_id, (identity::json ->> 'notAfter')::timestamptz AS ends_at
                FROM provider_credentials
                WHERE provider = \(ProviderName.apns.rawValue) AND identity LIKE '%"notAfter":%'
            )
            """
        let renewal: SQL = "now() + \(NetworkTrouble.notice.wholeMilliseconds) * interval '1 millisecond'"
        self = try await pool.withConnection { session in
            let counted = try session.queryFirst(
                """
                \(sql: certificates)
                SELECT count(*) FILTER (WHERE ends_at > \(sql: renewal)), count(*) FILTER (WHERE ends_at > now()), count(ends_at)
                FROM certificates
                """
            ) { row in
                let (later, good) = (try row.decode(0, as: Int.self), try row.decode(1, as: Int.self))
                let ended = try row.decode(2, as: Int.self) - good
                return Self(current: later, ending: good - later, ended: ended, first: [])
            }
            var summary = counted ?? Self(current: 0, ending: 0, ended: 0, first: [])
            summary.first = try session.query(
                """
                \(sql: certificates)
                SELECT network_id, app_id, ends_at FROM certificates WHERE ends_at <= \(sql: renewal)
                ORDER BY ends_at, network_id, app_id LIMIT \(Self.mostNamed)
                """
            ) { row in Ending(networkID: try row.id(0), appID: try row.decode(1), end: try row.timestamp(2)) }
            return summary
        }
    }
}
