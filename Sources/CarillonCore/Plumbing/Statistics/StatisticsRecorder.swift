import struct Foundation.UUID
import Synchronization

/// Counts what happens in networks, in memory, until it is written: one short lock for each batch that the stages hand it.
///
/// What is counted in a minute that is over becomes a row, and is kept until it is written. While the database is away rows
/// gather; there is a bound to that, beyond which the oldest are given up.
package final class StatisticsRecorder: Sendable {
    private struct Open {
        var minute: Timestamp
        var begunAt: Timestamp
        var figures: StatisticsFigures
    }

    private struct State {
        var open: [NetworkID: Open] = [:]
        var backlog = StatisticsBacklog()
        var lost = 0
    }

    private let replica = UUID()
    private let clock: WallClock
    private let capacity: Int
    private let state = Mutex(State())

    /// A recorder that has counted nothing; `capacity` is how many rows may wait to be written.
    package init(clock: WallClock = .system, capacity: Int = 50_000) {
        self.clock = clock
        self.capacity = capacity
    }

    /// The time by which is counted.
    package var now: Timestamp { clock.now() }

    package func add(_ news: [NetworkID: StatisticsFigures]) {
        guard !news.isEmpty else { return }
        state.withLock { state in
            let now = clock.now()
            let minute = StatisticsStep.minute.beginning(of: now)
            for (network, figures) in news where !figures.isEmpty {
                if state.open[network]?.minute == minute {
                    state.open[network]?.figures.add(figures)
                } else {
                    close(network, &state)
                    state.open[network] = Open(minute: minute, begunAt: now, figures: figures)
                }
            }
        }
    }

    package func add(to network: NetworkID, _ count: (inout StatisticsFigures) -> Void) {
        var figures = StatisticsFigures()
        count(&figures)
        add([network: figures])
    }

    /// Counts a dead letter that is sent once more as none.
    package func revived(_ lane: Lane) {
        add(to: lane.networkID) { $0.deliveries[lane.provider, default: StatisticsFigures.Deliveries()].dead -= 1 }
    }

    /// Rows of minutes that are over, or of this one as well, at most so many, of the networks that are meant: what is to be written next.
    func rowsToWrite(
        includingThisMinute: Bool,
        limit: Int,
        of isMeant: (NetworkID) -> Bool = { _ in true }
    ) -> [StatisticsRow] {
        state.withLock { state in
            let minute = StatisticsStep.minute.beginning(of: clock.now())
            let ended = state.open.filter { includingThisMinute || $0.value.minute != minute }.keys
            for network in ended { close(network, &state) }
            return state.backlog.first(limit) { isMeant($0.networkID) }
        }
    }

    func forget(_ rows: [StatisticsRow]) {
        state.withLock { state in
            for row in rows { if let number = row.origin?.number { state.backlog.remove(number) } }
        }
    }

    /// Forgets what was counted in a network that is gone: it is none of what another one of its id has done.
    package func forget(_ network: NetworkID) {
        state.withLock { state in
            state.open[network] = nil
            state.backlog.removeAll(of: network)
        }
    }

    /// How many rows were given up since that was asked last.
    func takeLost() -> Int {
        state.withLock { state in
            defer { state.lost = 0 }
            return state.lost
        }
    }

    /// What of a network is not written yet, or is just being written; what is still counted has no origin.
    func unwritten(of network: NetworkID) -> [StatisticsRow] {
        state.withLock { state in
            let open = state.open[network].map { row(of: network, $0) }
            return state.backlog.rows(of: network) + (open.map { [$0] } ?? [])
        }
    }

    /// The same of all networks.
    func unwritten() -> [StatisticsRow] {
        state.withLock { state in state.backlog.all + state.open.map { row(of: $0, $1) } }
    }

    private func close(_ network: NetworkID, _ state: inout State) {
        guard let open = state.open.removeValue(forKey: network) else { return }
        if state.backlog.count >= capacity {
            state.backlog.removeFirst()
            state.lost += 1
        }
        state.backlog.append(row(of: network, open), of: replica)
    }

    private func row(of network: NetworkID, _ open: Open) -> StatisticsRow {
        StatisticsRow(
            networkID: network,
            at: open.minute,
            origin: nil,
            figures: open.figures,
            begunAt: open.begunAt
        )
    }
}
