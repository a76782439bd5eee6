enum MetricType: String, Sendable {
    /// Only grows.
    case counter
    /// Goes up and down.
    case gauge
    /// Counts how often values fell below each of some bounds.
    case histogram
}

/// A number that is read when somebody asks for it.
struct MetricReading: Sendable {
    let labels: MetricLabels
    let value: Double

    init(_ value: Double, _ labels: [(String, String)] = []) {
        self.labels = MetricLabels(labels)
        self.value = value
    }
}

/// One metric with all its label combinations.
struct MetricFamily: Sendable {
    let name: String
    let type: MetricType
    var series: [MetricLabels: any MetricSeries] = [:]

    /// Appends the metric in Prometheus' text format: HELP, TYPE, and a line for each number.
    func write(to text: inout String, readings: [MetricReading] = []) {
        guard !series.isEmpty || !readings.isEmpty else { return }
        if let help = MetricHelp.texts[name] { text += "# HELP \(name) \(help)\n" }
        text += "# TYPE \(name) \(type.rawValue)\n"
        for (labels, series) in series.sorted(by: { $0.key < $1.key }) {
            series.write(to: &text, name: name, labels: labels)
        }
        for reading in readings { text += "\(name)\(reading.labels) \(reading.value.metricText)\n" }
    }
}
