import CarillonCore
import CarillonStore
import Postgres

/// Looks at all networks at once: what `GET /v1/overview` answers.
enum OverviewChecks {
    private static let subject = "networks"
    /// What nothing goes through for, or in by. With the rest it works, but somebody should look at it.
    private static let failures: Set<NetworkTrouble.Kind> = [.queue, .lane, .credential, .senders]

    /// What is found in a database with all of its tables.
    static func findings(_ pool: PostgresPool) async throws -> [Finding] {
        let outbox = PostgresOutbox(pool: pool, ids: UUIDv7Generator())
        let reportSource = PostgresNetworkReportSource(pool: pool, outbox: outbox)
        let count = try await reportSource.namedNetworks().count
        // What services have counted and not written is theirs alone: it is a minute's.
        let overview = NetworkOverview(reportSource: reportSource, recorder: StatisticsRecorder())
        let reports = try await overview.reports(after: nil, limit: max(1, count), ofAll: false).items
        return findings(of: reports, among: count)
    }

    /// One line for each network that something is wrong with, and one for all others.
    static func findings(of reports: [NetworkReport], among count: Int) -> [Finding] {
        guard count > 0 else { return [.ok(subject, "there are none")] }
        let well = Array(repeating: [Finding](), count: max(0, count - reports.count))
        return .of(reports.map { [finding(of: $0)] } + well, subject, "are well")
    }

    private static func finding(of report: NetworkReport) -> Finding {
        let reasons = report.troubles.map { trouble in
            let since = trouble.since.map { " since \($0)" } ?? ""
            return "\(trouble.kind.rawValue) \(trouble.name)\(since): \(trouble.detail)"
        }
        let seconds = report.oldestWait.components.seconds
        let wait = seconds > 0 ? ["work has been waiting for \(seconds) s"] : []
        let detail = (reasons + wait + ["events of the last hour: \(report.eventsOfLastHour)"]).joined(separator: "; ")
        let fails = report.troubles.contains { failures.contains($0.kind) }
        return Finding(verdict: fails ? .fail : .warn, subject: "network \(report.network.id)", detail: detail)
    }
}
