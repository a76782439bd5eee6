extension String {
    /// A metric's name as Prometheus takes it, made of a label: letters, digits, underscores and colons, no digit first, and
    /// `suffix` at its end.
    init(metricName label: String, suffix: String = "") {
        self = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ":") ? $0 : "_" })
        if first?.isNumber ?? true { self = "_" + self }
        if !hasSuffix(suffix) { self += suffix }
    }
}

/// The labels of one combination, in their text form: `{route="/a",method="GET"}`, or nothing.
struct MetricLabels: Hashable, Sendable, Comparable, CustomStringConvertible {
    private let pairs: String

    init(_ dimensions: [(String, String)]) {
        pairs = dimensions.map(Self.pair).joined(separator: ",")
    }

    private init(pairs: String) {
        self.pairs = pairs
    }

    func adding(_ name: String, _ value: String) -> MetricLabels {
        let pair = Self.pair((name, value))
        return MetricLabels(pairs: pairs.isEmpty ? pair : "\(pairs),\(pair)")
    }

    var description: String { pairs.isEmpty ? "" : "{\(pairs)}" }

    static func < (left: Self, right: Self) -> Bool { left.pairs < right.pairs }

    private static func pair(_ dimension: (String, String)) -> String {
        let value = dimension.1.reduce(into: "") { text, character in
            switch character {
            case "\\": text += "\\\\"
            case "\"": text += "\\\""
            case "\n", "\r\n": text += "\\n"
            default: text.append(character)
            }
        }
        return "\(String(metricName: dimension.0))=\"\(value)\""
    }
}

extension Double {
    /// The number as Prometheus reads it: whole numbers without a decimal point, `NaN` and `+Inf` by name.
    var metricText: String {
        if let whole = Int64(exactly: self) { return "\(whole)" }
        if isNaN { return "NaN" }
        if isInfinite { return self > 0 ? "+Inf" : "-Inf" }
        return "\(self)"
    }
}
