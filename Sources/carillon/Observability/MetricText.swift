/// A metric's name as Prometheus takes it: letters, digits, underscores and colons, no digit first.
struct MetricName: Sendable {
    let text: String

    /// Makes a name of a label, and has it end in `suffix`.
    init(_ label: String, suffix: String = "") {
        var text = String(label.map { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == ":") ? $0 : "_" })
        if text.first?.isNumber ?? true { text = "_" + text }
        self.text = text.hasSuffix(suffix) ? text : text + suffix
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
        return "\(MetricName(dimension.0).text)=\"\(value)\""
    }
}

/// A number as Prometheus reads it: whole numbers without a decimal point, `NaN` and `+Inf` by name.
struct MetricNumber: CustomStringConvertible {
    private let value: Double

    init(_ value: Double) {
        self.value = value
    }

    var description: String {
        if let whole = Int64(exactly: value) { return "\(whole)" }
        if value.isNaN { return "NaN" }
        if value.isInfinite { return value > 0 ? "+Inf" : "-Inf" }
        return "\(value)"
    }
}
