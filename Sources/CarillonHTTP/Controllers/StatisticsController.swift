import CarillonCore
import CarillonEdge
import HTTPTypes
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
        var (events, deliveries) = (JSONObject(), JSONObject())
        for (type, counts) in figures.events.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            events[type.rawValue] = [
                "accepted": JSONValue(counts.accepted), "duplicate": JSONValue(counts.duplicate),
            ]
        }
        for (provider, counts) in figures.deliveries.sorted(by: { $0.key < $1.key }) {
            deliveries[provider.rawValue] = counts.json
        }
        var all = StatisticsFigures.Recipients()
        for counts in figures.recipients.values { all.add(counts) }
        return [
            "at": JSONValue(at),
            "events": .object(events),
            "recipients": all.json,
            "recipientsByType": recipients { $0.type.rawValue },
            "recipientsByModule": recipients { $0.module.rawValue },
            "deliveries": .object(deliveries),
            "latency": [
                "p50": figures.latency.percentile(50).map { JSONValue(Int($0)) } ?? .null,
                "p99": figures.latency.percentile(99).map { JSONValue(Int($0)) } ?? .null,
            ],
        ]
    }

    private func recipients(by name: (StatisticsFigures.Subject) -> String) -> JSONValue {
        var groups: [String: StatisticsFigures.Recipients] = [:]
        for (subject, counts) in figures.recipients {
            groups[name(subject), default: StatisticsFigures.Recipients()].add(counts)
        }
        var object = JSONObject()
        for (name, counts) in groups.sorted(by: { $0.key < $1.key }) { object[name] = counts.json }
        return .object(object)
    }
}

extension StatisticsFigures.Recipients {
    fileprivate var json: JSONValue {
        var levels = JSONObject()
        for level in ToggleLevel.allCases { levels[level.rawValue] = JSONValue(suppressed[level] ?? 0) }
        levels["endpoint"] = JSONValue(intercepted)
        return ["notified": JSONValue(notified), "noDevice": JSONValue(noDevice), "suppressed": .object(levels)]
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
