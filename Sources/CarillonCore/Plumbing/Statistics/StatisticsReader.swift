/// What happened in a step of time.
package struct StatisticsPoint: Sendable, Equatable {
    /// When the step began.
    package var at: Timestamp
    package var figures: StatisticsFigures
}

/// Answers what happened: what is written, and what this replica has not written yet.
package struct StatisticsReader: Sendable {
    /// The most points of one answer.
    package static let maximumPoints = 1500

    private let recorder: StatisticsRecorder
    private let store: any StatisticsStore

    package init(recorder: StatisticsRecorder, store: some StatisticsStore) {
        self.recorder = recorder
        self.store = store
    }

    /// The steps from a moment until before another in which something happened, in their order; both are where steps begin.
    package func points(
        of network: NetworkID,
        from: Timestamp,
        to: Timestamp,
        step: StatisticsStep
    ) async throws -> [StatisticsPoint] {
        // In this order, or what is written between the two would be missed.
        let unwritten = recorder.unwritten(of: network).filter { from <= $0.at && $0.at < to }
        let written = try await store.rows(
            of: network,
            from: from,
            to: to,
            inHours: step != .minute,
            asked: unwritten
        )
        let known = Set(written.compactMap(\.origin))
        let news = unwritten.filter { row in row.origin.map { !known.contains($0) } ?? true }
        var steps: [Timestamp: StatisticsFigures] = [:]
        for row in written + news { steps[step.beginning(of: row.at), default: StatisticsFigures()].add(row.figures) }
        return steps.filter { !$1.isOfPostsOnly }.map { StatisticsPoint(at: $0, figures: $1) }.sorted { $0.at < $1.at }
    }
}
