import Foundation

/// The `Date` of answers (RFC 9110 section 5.6.7), written once a second.
final class DateHeader {
    private let formatter = DateFormatter()
    private var second = 0.0
    private var last = ""

    init() {
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = .gmt
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    }

    var text: String {
        let now = Date.now
        let second = now.timeIntervalSince1970.rounded(.down)
        if second != self.second { (self.second, last) = (second, formatter.string(from: now)) }
        return last
    }
}
