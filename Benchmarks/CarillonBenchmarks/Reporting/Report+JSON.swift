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
        var object = JSONObject()
        object["name"] = .string(name)
        object["value"] = .number(value)
        object["unit"] = .string(unit)
        if let range { object["range"] = .array([.number(range.lowerBound), .number(range.upperBound)]) }
        if let goal { object["goal"] = goal.json }
        if let isMet { object["met"] = .bool(isMet) }
        return .object(object)
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
