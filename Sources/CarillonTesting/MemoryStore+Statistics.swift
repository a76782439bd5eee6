package import CarillonCore

extension MemoryStore: StatisticsStore {
    /// Writes rows; those that were written before are left as they are.
    package func write(_ rows: [StatisticsRow]) async throws {
        try withState { state in
            for row in rows {
                guard let origin = row.origin, state.statistics[origin] == nil else { continue }
                state.statistics[origin] = row
            }
        }
    }

    /// All that was written of a network from a moment until before another.
    package func rows(
        of network: NetworkID,
        from: Timestamp,
        to: Timestamp,
        inHours: Bool,
        asked: [StatisticsRow]
    ) async throws -> [StatisticsRow] {
        try withState { state in
            state.statistics.values.filter { $0.networkID == network && from <= $0.at && $0.at < to }
        }
    }
}
