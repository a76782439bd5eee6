import CarillonCore

extension Report {
    /// The report for programs.
    var json: JSONValue {
        [
            "benchmark": .string(benchmark),
            "figures": .array(figures.map(\.json)),
            "notes": .array(notes.map(JSONValue.string)),
        ]
    }
}

extension Figure {
    fileprivate var json: JSONValue {
        [
            "name": .string(name), "value": .number(value), "unit": .string(unit),
            "range": range.map { .array([.number($0.lowerBound), .number($0.upperBound)]) },
            "goal": goal?.json, "met": isMet.map(JSONValue.bool),
        ]
    }
}

extension Figure.Goal {
    fileprivate var json: JSONValue {
        switch self {
        case .atLeast(let bound): ["atLeast": .number(bound)]
        case .atMost(let bound): ["atMost": .number(bound)]
        case .below(let bound): ["below": .number(bound)]
        }
    }
}

extension JSONValue {
    /// A number; `null` for those that JSON cannot write.
    fileprivate static func number(_ value: Double) -> JSONValue { JSONNumber(value).map(JSONValue.number) ?? .null }
}
