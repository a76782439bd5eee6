import Foundation

extension Duration {
    /// Longer waits than this are cut: whoever asks for more means "not now".
    private static let longestRetryAfter = Duration.seconds(86_400)

    /// Reads `Retry-After`: seconds, or a date (RFC 9110, section 10.2.3) counted from now; `nil` for anything else.
    init?(retryAfter text: String, now: Date) {
        let text = text.trimmingCharacters(in: .whitespaces)
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        if !text.isEmpty, text.utf8.allSatisfy(digits.contains) {
            self = Int64(text).map { min(.seconds($0), Self.longestRetryAfter) } ?? Self.longestRetryAfter
            return
        }
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        // What servers write, and what RFC 9110 makes readers take besides.
        for format in ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM d HH:mm:ss yyyy"] {
            formatter.dateFormat = format
            guard let date = formatter.date(from: text) else { continue }
            self = min(max(.seconds(date.timeIntervalSince(now)), .zero), Self.longestRetryAfter)
            return
        }
        return nil
    }
}
