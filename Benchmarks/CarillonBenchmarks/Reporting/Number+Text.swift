extension Double {
    /// The number with about three significant digits, and commas between thousands: `0.612`, `24.3`, `12,345`.
    var shortText: String {
        guard isFinite, abs(self) < 1e15 else { return "\(self)" }
        let decimals =
            switch abs(self) {
            case 0, 100...: 0
            case 10..<100: 1
            case 1..<10: 2
            default: 3
            }
        let scale = (0..<decimals).reduce(1) { power, _ in power * 10 }
        let scaled = Int((abs(self) * Double(scale)).rounded())
        var text = (scaled / scale).grouped
        if decimals > 0 {
            let fraction = String(scaled % scale)
            text += "." + String(repeating: "0", count: decimals - fraction.count) + fraction
        }
        return self < 0 && scaled > 0 ? "-" + text : text
    }
}

extension Int {
    /// A number that is not negative, with commas between thousands.
    fileprivate var grouped: String {
        var text = ""
        for (index, digit) in String(self).reversed().enumerated() {
            if index > 0, index.isMultiple(of: 3) { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }
}
