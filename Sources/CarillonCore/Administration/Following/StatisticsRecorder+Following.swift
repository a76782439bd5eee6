extension StatisticsRecorder {
    /// Counts a dead letter that is sent once more as none.
    package func revived(_ lane: Lane) {
        add(to: lane.networkID) { $0.deliveries[lane.provider, default: StatisticsFigures.Deliveries()].dead -= 1 }
    }
}
