package import CarillonCore
import NIOHTTP1

extension HTTPHeaders {
    func retryAfter(at now: Timestamp) -> Duration? {
        first(name: "retry-after").flatMap { Duration(retryAfter: $0, now: now) }
    }
}

extension Duration {
    /// Reads a `Retry-After` header: whole seconds or any of the three date formats, clamped to 0…24 h.
    ///
    /// `nil` for anything else, negative numbers included.
    ///
    /// - SeeAlso: RFC 9110 sections 10.2.3 and 5.6.7.
    package init?(retryAfter value: String, now: Timestamp) {
        guard value.utf8.count <= 64 else { return nil }
        let value = value.trimmingOptionalWhitespace
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            self = .seconds(min(Int64(value) ?? .max, 86_400))
        } else if let date = Timestamp(httpDate: value) {
            self = min(max(date - now, .zero), .seconds(86_400))
        } else {
            return nil
        }
    }
}

extension String {
    /// A field's value without the white space around it (RFC 9110 section 5.5).
    fileprivate var trimmingOptionalWhitespace: String {
        func isBlank(_ character: Character) -> Bool { character == " " || character == "\t" }
        return String(drop(while: isBlank).reversed().drop(while: isBlank).reversed())
    }
}

extension Timestamp {
    /// Reads `Sun, 06 Nov 1994 08:49:37 GMT`, and the forms that are obsolete but still to be read.
    init?(httpDate text: String) {
        let parts = text.split(separator: " ")
        if parts.count == 6, parts[5] == "GMT" {
            self.init(day: parts[1], month: parts[2], year: parts[3], time: parts[4])
        } else if parts.count == 4, parts[3] == "GMT" {
            let date = parts[1].split(separator: "-")
            guard date.count == 3, let year = Int(date[2]), (0...99).contains(year) else { return nil }
            self.init(day: date[0], month: date[1], year: "\(year < 70 ? 2000 + year : 1900 + year)", time: parts[2])
        } else if parts.count == 5 {
            let day = parts[2].count == 1 ? "0" + parts[2] : parts[2]
            self.init(day: day, month: parts[1], year: parts[4], time: parts[3])
        } else {
            return nil
        }
    }

    private init?(day: Substring, month: Substring, year: Substring, time: Substring) {
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        guard let month = months.firstIndex(of: String(month)) else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        self.init(rfc3339: "\(year)-\(number)-\(day)T\(time)Z")
    }
}
