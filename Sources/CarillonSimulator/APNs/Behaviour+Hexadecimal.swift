import NIOCore

extension Behaviour where Refusal == APNsRefusal {
    /// The prefix of a device that has gone long ago: before it could be registered here.
    static var longGonePrefix: String { "fa1141099" }

    /// Reads the markers that a device token begins with: `de1a` and milliseconds, `0ce1`, `fa11` and what to answer.
    init(hexadecimal token: String, now: Duration) {
        var rest = token[...]
        while true {
            if rest.hasPrefix("de1a"), let milliseconds = rest.dropFirst(4).number(digits: 5) {
                delay = .milliseconds(Int64(milliseconds))
                rest = rest.dropFirst(9)
            } else if rest.hasPrefix("0ce1") {
                isOnce = true
                rest = rest.dropFirst(4)
            } else {
                break
            }
        }
        guard rest.hasPrefix("fa11"), let status = rest.dropFirst(4).number(digits: 3),
            rest.dropFirst(7).number(digits: 2) != nil
        else { return }
        let prefix = String(rest.prefix(9))
        if prefix == Self.longGonePrefix {
            outcome = .refusal(APNsRefusal(.unregistered, since: .seconds(1_445_412_480)))
        } else if let reason = Markers.reasons[prefix] {
            outcome = .refusal(APNsRefusal(reason, since: reason.status == 410 ? now : nil))
        } else if let fault = Markers.faults[prefix] {
            outcome = .fault(fault)
        } else if status >= 200 {
            outcome = .unknown(status: status)
        }
    }

}

/// What the device tokens of APNs can begin with.
private enum Markers {
    static let reasons = Dictionary(uniqueKeysWithValues: APNsReason.allCases.map { ($0.tokenPrefix, $0) })
    static let faults = Dictionary(uniqueKeysWithValues: Fault.allCases.map { ($0.apnsTokenPrefix, $0) })
}

extension Substring {
    /// The decimal number that this begins with; `nil` when it has fewer digits.
    fileprivate func number(digits: Int) -> Int? {
        let text = prefix(digits)
        guard text.utf8.count == digits, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int(text)
    }
}
