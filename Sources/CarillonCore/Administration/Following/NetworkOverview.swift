/// Answers how all networks fare, the worst first (API section 13).
///
/// A page is a look at all networks: what is wrong changes, and with it the order. So somebody who turns pages while that happens may
/// meet a network twice, or miss one that has become worse than those they have seen.
package struct NetworkOverview: Sendable {
    private let reportSource: any NetworkReportSource
    private let recorder: StatisticsRecorder

    /// An overview of what `reportSource` finds and of what `recorder` has not written yet.
    package init(reportSource: some NetworkReportSource, recorder: StatisticsRecorder) {
        self.reportSource = reportSource
        self.recorder = recorder
    }

    /// What is wrong, and for how long work has been waiting.
    private struct Findings {
        var troubles: [NetworkID: [NetworkTrouble]]
        var waits: [NetworkID: Duration]
    }

    /// The networks behind a cursor: those with something wrong and, `ofAll`, the others in the order of their ids.
    package func reports(
        after cursor: NetworkCursor?,
        limit: Int,
        ofAll: Bool
    ) async throws -> (items: [NetworkReport], next: NetworkCursor?) {
        let now = recorder.now
        let unwritten = recorder.unwritten()
        let networks = try await reportSource.namedNetworks()
        let findings = try await findings(of: networks.map(\.id), unwritten, at: now)
        let cursors = networks.map { (network: $0, cursor: NetworkCursor($0.id, findings.troubles[$0.id] ?? [])) }
            .filter { (ofAll || $0.cursor.isOfTrouble) && (cursor.map { [found = $0.cursor] in $0 < found } ?? true) }
            .sorted { $0.cursor < $1.cursor }
        let page = cursors.prefix(limit)
        let activities = try await activities(of: page.map(\.network.id), unwritten, at: now)
        let items = page.map { network, _ in
            let troubles = findings.troubles[network.id] ?? []
            let activity = activities[network.id] ?? NetworkActivity()
            return NetworkReport(
                network: network,
                state: troubles.isEmpty ? activity.state : .failing,
                troubles: troubles,
                eventsOfLastHour: activity.events,
                oldestWait: findings.waits[network.id] ?? .zero
            )
        }
        return (items, cursors.count > limit ? page.last?.cursor : nil)
    }

    package func states(of networks: [NetworkID]) async throws -> [NetworkID: NetworkState] {
        guard !networks.isEmpty else { return [:] }
        let now = recorder.now
        let unwritten = recorder.unwritten()
        let troubles = try await findings(of: networks, unwritten, at: now).troubles
        let activities = try await activities(of: networks, unwritten, at: now)
        return Dictionary(
            networks.map { ($0, troubles[$0] == nil ? (activities[$0] ?? NetworkActivity()).state : .failing) },
            uniquingKeysWith: { $1 }
        )
    }

    private func findings(
        of networks: [NetworkID],
        _ unwritten: [StatisticsRow],
        at now: Timestamp
    ) async throws -> Findings {
        var troubles = try await reportSource.troubles(of: networks, at: now)
        let waits = try await reportSource.oldestWaits(of: networks)
        for (network, refusals) in try await refusals(in: networks, unwritten, at: now) {
            troubles[network, default: []] += refusals
        }
        var findings = Findings(troubles: [:], waits: [:])
        for network in networks {
            let queue = waits[network].flatMap { NetworkTrouble.queue($0, at: now) }
            let all = (troubles[network] ?? []) + [queue].compactMap(\.self)
            let paused = all.filter { $0.kind == .lane }.compactMap(\.since).min().map { now - $0 }
            findings.waits[network] = [waits[network], paused, .zero].compactMap(\.self).max()
            if !all.isEmpty { findings.troubles[network] = all.sorted { $0.order < $1.order } }
        }
        return findings
    }

    /// The troubles of those networks whose senders are refused.
    private func refusals(
        in networks: [NetworkID],
        _ unwritten: [StatisticsRow],
        at now: Timestamp
    ) async throws -> [NetworkID: [NetworkTrouble]] {
        let start = StatisticsStep.minute.beginning(of: now - RefusedPosts.period)
        let own = unwritten.filter { start <= $0.at }
        let stored = try await reportSource.figures(
            of: networks,
            refusingSince: start,
            asked: Set(own.filter { $0.figures.refusedPosts > 0 }.map(\.networkID)),
            without: unwritten
        )
        let meant = Set(networks)
        let rows = Dictionary(grouping: (stored + own).filter { meant.contains($0.networkID) }, by: \.networkID)
        return rows.mapValues(RefusedPosts.troubles).filter { !$1.isEmpty }
    }

    private func activities(
        of networks: [NetworkID],
        _ unwritten: [StatisticsRow],
        at now: Timestamp
    ) async throws -> [NetworkID: NetworkActivity] {
        let hourAgo = StatisticsStep.minute.beginning(of: now - .seconds(3_600))
        var activities = try await reportSource.activities(of: networks, since: hourAgo, without: unwritten)
        for row in unwritten where hourAgo <= row.at {
            activities[row.networkID, default: NetworkActivity()].events += row.figures.acceptedEvents
        }
        return activities
    }
}

/// What makes senders that are refused worth a look.
private enum RefusedPosts {
    static let period = Duration.seconds(300)
    /// More than one in so many posts.
    private static let oneIn = 20
    /// At least so many: anybody can post something to a network's address.
    private static let fewest = 5

    static func troubles(of rows: [StatisticsRow]) -> [NetworkTrouble] {
        var sum = StatisticsFigures()
        for row in rows { sum.add(row.figures) }
        return sum.posts.filter { fewest <= $1.refused && $1.all < $1.refused * oneIn }.map { route, posts in
            NetworkTrouble(
                .senders,
                route,
                since: rows.filter { $0.figures.posts[route]?.refused ?? 0 > 0 }.map(\.at).min(),
                "\(posts.refused) of \(posts.all) posts of the last \(period.components.seconds / 60) minutes were refused with 401, "
                    + "403 or 404"
            )
        }
    }
}

extension NetworkTrouble {
    /// Where it stands among those of its network.
    fileprivate var order: (Kind, Timestamp, String) { (kind, since ?? .endOfTime, name) }
}

/// Where a network stands in the overview: by the worst that is wrong with it, then by how much is, then by since when, then by its id.
package struct NetworkCursor: Sendable, Equatable, Comparable, LosslessStringConvertible {
    private let rank: Int
    private let count: Int
    private let since: Timestamp
    private let network: NetworkID

    init(_ network: NetworkID, _ troubles: [NetworkTrouble]) {
        rank = troubles.map(\.kind).min().flatMap(NetworkTrouble.Kind.allCases.firstIndex(of:)) ?? Self.last
        count = troubles.count
        since = troubles.compactMap(\.since).min() ?? .endOfTime
        self.network = network
    }

    /// Reads what ``description`` wrote; `nil` for anything else.
    package init?(_ description: String) {
        // A network's id may hold anything, so it comes last.
        let parts = description.split(separator: ":", maxSplits: 3, omittingEmptySubsequences: false)
        guard parts.count == 4, let rank = Int(parts[0]), let count = Int(parts[1]), let since = Int64(parts[2]),
            let network = NetworkID(String(parts[3])), (0...Self.last).contains(rank)
        else { return nil }
        (self.rank, self.count, self.network) = (rank, count, network)
        self.since = Timestamp(milliseconds: since)
    }

    package var description: String { "\(rank):\(count):\(since.milliseconds):\(network)" }

    var isOfTrouble: Bool { rank < Self.last }

    /// The worse one is the smaller one.
    package static func < (left: Self, right: Self) -> Bool {
        (left.rank, right.count, left.since, left.network) < (right.rank, left.count, right.since, right.network)
    }

    private static let last = NetworkTrouble.Kind.allCases.count
}

extension Timestamp {
    fileprivate static let endOfTime = Timestamp(milliseconds: .max)
}
