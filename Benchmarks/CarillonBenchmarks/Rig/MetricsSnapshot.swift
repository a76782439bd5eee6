import NIOCore

/// The service's metrics at one moment.
struct MetricsSnapshot: Sendable {
    /// When it was taken.
    let takenAt = ContinuousClock.now
    private var values: [String: Double] = [:]

    /// Asks the service.
    static func take(from service: ServiceUnderTest) async throws -> MetricsSnapshot {
        let answer = try await service.management.send(HTTPRequest(path: "/metrics")).expecting(200)
        return MetricsSnapshot(text: String(decoding: answer.body.readableBytesView, as: UTF8.self))
    }

    /// Reads Prometheus's text format.
    init(text: String) {
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            guard let space = line.lastIndex(of: " ") else { continue }
            guard let value = Double(line[line.index(after: space)...]) else { continue }
            values[String(line[..<space])] = value
        }
    }

    /// A metric's value; with labels `name{label="value"}`. What was never counted is zero.
    subscript(_ series: String) -> Double { values[series] ?? 0 }

    /// Events that were accepted so far.
    var acceptedEvents: Double { self[#"carillon_events_total{status="accepted"}"#] }

    /// Notifications that log devices have got so far.
    var delivered: Double { self[#"carillon_deliveries_total{provider="log",outcome="delivered"}"#] }

    /// How long the event or delivery that waits longest has been due, in seconds; measured now and then.
    var queueAge: Double { self["carillon_queue_age_seconds"] }
}
