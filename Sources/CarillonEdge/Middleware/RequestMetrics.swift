package import HTTPTypes
package import Metrics
import Synchronization

/// Counts answers by route, method and status, and times them by route and method: metrics are made once for each combination of
/// labels, of which there is a bounded number.
package final class RequestMetrics: Sendable {
    private struct Key: Hashable {
        var route: String
        var method: HTTPRequest.Method
        var status: Int
    }

    private struct Pair: Sendable {
        let counter: Counter
        let timer: Metrics.Timer
    }

    private let factory: any MetricsFactory
    private let pairs = Mutex<[Key: Pair]>([:])

    package init(factory: any MetricsFactory) {
        self.factory = factory
    }

    package func answered(_ route: String, _ method: HTTPRequest.Method, _ status: Int, after duration: Duration) {
        let key = Key(route: route, method: method, status: status)
        let pair = pairs.withLock { pairs in
            if let pair = pairs[key] { return pair }
            let pair = makePair(key)
            pairs[key] = pair
            return pair
        }
        pair.counter.increment()
        pair.timer.recordNanoseconds(
            duration.components.seconds * 1_000_000_000 + duration.components.attoseconds / 1_000_000_000
        )
    }

    private func makePair(_ key: Key) -> Pair {
        let dimensions = [("route", key.route), ("method", key.method.rawValue)]
        return Pair(
            counter: Counter(
                label: "carillon_http_requests_total",
                dimensions: dimensions + [("status", "\(key.status)")],
                factory: factory
            ),
            timer: Metrics.Timer(
                label: "carillon_http_request_duration_seconds",
                dimensions: dimensions,
                factory: factory
            )
        )
    }
}
