import CarillonCore
import Metrics

/// Counts networks that moved between placements.
struct MoveMetrics: Sendable {
    private let done: Counter
    private let cancelled: Counter
    private let rows: Counter
    private let frozen: Metrics.Timer

    init(factory: any MetricsFactory) {
        func moves(_ result: String) -> Counter {
            Counter(label: "carillon_network_moves_total", dimensions: [("result", result)], factory: factory)
        }
        (done, cancelled) = (moves("done"), moves("cancelled"))
        rows = Counter(label: "carillon_network_move_rows_total", factory: factory)
        frozen = Metrics.Timer(label: "carillon_network_move_frozen_seconds", factory: factory)
    }

    func ended(_ move: NetworkMove) {
        (move.step == .cancelled ? cancelled : done).increment()
        rows.increment(by: move.rows)
        frozen.recordMilliseconds(move.frozen.wholeMilliseconds)
    }
}
