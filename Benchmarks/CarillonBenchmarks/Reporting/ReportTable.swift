/// Reports as a table for people.
struct ReportTable: CustomStringConvertible {
    private static let header = ["benchmark", "figure", "value", "", "range", "goal", ""]
    private static let rightAligned: Set<Int> = [2]

    /// Where it was measured.
    let machine: MachineDescription
    /// What was measured.
    let reports: [Report]

    /// The table with a line feed at its end.
    var description: String {
        let rows = [Self.header] + reports.flatMap(Self.rows)
        let widths = Self.header.indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        var lines = machine.lines + [""]
        for (index, row) in rows.enumerated() {
            lines.append(Self.line(row, widths: widths))
            if index == 0 { lines.append(Self.line(widths.map { String(repeating: "-", count: $0) }, widths: widths)) }
        }
        let notes = reports.flatMap { report in report.notes.map { "\(report.benchmark): \($0)" } }
        if !notes.isEmpty { lines += [""] + notes }
        return lines.joined(separator: "\n") + "\n"
    }

    private static func rows(of report: Report) -> [[String]] {
        report.figures.enumerated().map { index, figure in
            [
                index == 0 ? report.benchmark : "",
                figure.name,
                figure.value.shortText,
                figure.unit,
                figure.range.map { "\($0.lowerBound.shortText) – \($0.upperBound.shortText)" } ?? "",
                figure.goal.map(\.text) ?? "",
                figure.isMet.map { $0 ? "met" : "MISSED" } ?? "",
            ]
        }
    }

    private static func line(_ cells: [String], widths: [Int]) -> String {
        var line = ""
        for (column, cell) in cells.enumerated() {
            let padding = String(repeating: " ", count: widths[column] - cell.count)
            line += (column == 0 ? "" : "  ") + (rightAligned.contains(column) ? padding + cell : cell + padding)
        }
        while line.last == " " { line.removeLast() }
        return line
    }
}

extension Figure.Goal {
    /// The goal as in the table.
    fileprivate var text: String {
        switch self {
        case .atLeast(let bound): "≥ \(bound.shortText)"
        case .atMost(let bound): "≤ \(bound.shortText)"
        case .below(let bound): "< \(bound.shortText)"
        }
    }
}
