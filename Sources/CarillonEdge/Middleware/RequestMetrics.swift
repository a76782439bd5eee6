package import HTTPTypes
package import Metrics
import Synchronization

/// Counts answers by route, method and status, and times them by route and method: metrics are made once for each combination of
/// labels, of which there is a bounded number.
package final class RequestMetrics: Sendable {
    package struct Key: Hashable {
        var route: String
        var method: HTTPRequest.Method
        var status: Int

        package init(route: String, method: HTTPRequest.Method, status: Int) {
            self.route = route
            self.method = method
            self.status = status
        }
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

    package func answered(_ key: Key, after duration: Duration) {
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
