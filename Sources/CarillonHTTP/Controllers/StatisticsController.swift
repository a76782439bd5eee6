import CarillonCore
import CarillonEdge
import Hummingbird

/// What happened in a network, counted (CONSOLE section 2). For admins.
struct StatisticsController: Controller {
    let services: Services

    func addRoutes(to router: Router<CarillonRequestContext>) {
        admins(router).pages("/stats", use: show)
    }

    private func show(_ request: NetworkRequest) async throws -> Response {
        let query = try StatisticsQuery(request.query)
        let points = try await services.statistics.points(
            of: request.network,
            from: query.from,
            to: query.to,
            step: query.step
        )
        return .json([
            "from": JSONValue(query.from),
            "to": JSONValue(query.to),
            "step": .string(query.step.rawValue),
            "points": .array(points.map(\.json)),
        ])
    }
}

/// The time that figures are asked for, in whole steps.
private struct StatisticsQuery {
    let from: Timestamp
    let to: Timestamp
    let step: StatisticsStep

    init(_ query: QueryParameters) throws(Problem) {
        try query.refuseAll(but: "from", "to", "step", isPaged: false)
        guard let step = try query.choice("step", of: StatisticsStep.self) else { throw Self.missing("step") }
        guard let from = try query.timestamp("from") else { throw Self.missing("from") }
        guard let to = try query.timestamp("to") else { throw Self.missing("to") }
        guard from <= to else { throw .invalidParameter("to", "must not be before from") }
        self.step = step
        self.from = step.beginning(of: from)
        let last = step.beginning(of: to)
        self.to = last < to ? last + step.duration : to
        guard self.to <= .lastShown else {
            throw .invalidParameter("to", "must be before the last day of the year 9999")
        }
        let points = (self.to - self.from).wholeMilliseconds / step.duration.wholeMilliseconds
        let limit = StatisticsReader.maximumPoints
        guard points <= limit else {
            throw .invalidParameter("step", "makes \(points) points of that time, of at most \(limit)")
        }
    }

    private static func missing(_ name: String) -> Problem { .invalidParameter(name, "is missing") }
}

extension StatisticsPoint {
    fileprivate var json: JSONValue {
        let events = figures.events.sorted { $0.key.rawValue < $1.key.rawValue }
        let deliveries = figures.deliveries.sorted { $0.key < $1.key }
        var all = StatisticsFigures.Recipients()
        for counts in figures.recipients.values { all.add(counts) }
        return [
            "at": JSONValue(at),
            "events": .object(JSONObject(events.map { ($0.key.rawValue, $0.value.json) })),
            "recipients": all.json,
            "recipientsByType": recipients { $0.type.rawValue },
            "recipientsByModule": recipients { $0.module.rawValue },
            "deliveries": .object(JSONObject(deliveries.map { ($0.key.rawValue, $0.value.json) })),
            "latency": [
                "p50": JSONValue(figures.latency.percentile(50).map { Int($0) }),
                "p99": JSONValue(figures.latency.percentile(99).map { Int($0) }),
            ],
        ]
    }

    private func recipients(by name: (StatisticsFigures.Subject) -> String) -> JSONValue {
        var groups: [String: StatisticsFigures.Recipients] = [:]
        for (subject, counts) in figures.recipients {
            groups[name(subject), default: StatisticsFigures.Recipients()].add(counts)
        }
        return .object(JSONObject(groups.sorted { $0.key < $1.key }.map { ($0.key, $0.value.json) }))
    }
}

extension StatisticsFigures.Acceptances {
    fileprivate var json: JSONValue { ["accepted": JSONValue(accepted), "duplicate": JSONValue(duplicate)] }
}

extension StatisticsFigures.Recipients {
    fileprivate var json: JSONValue {
        [
            "notified": JSONValue(notified), "noDevice": JSONValue(noDevice),
            "suppressed": .object(JSONObject(suppressed: suppressed, intercepted: intercepted)),
        ]
    }
}

extension StatisticsFigures.Deliveries {
    fileprivate var json: JSONValue {
        [
            "delivered": JSONValue(delivered), "unregistered": JSONValue(unregistered), "expired": JSONValue(expired),
            "dead": JSONValue(dead), "retries": JSONValue(retries),
        ]
    }
}
