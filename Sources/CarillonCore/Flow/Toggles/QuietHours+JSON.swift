import Foundation

extension QuietHours {
    /// Reads a window; `nil` after noting what is wrong with it.
    init?(reading reader: inout JSONObjectReader) {
        let from = Self.minutes("from", &reader)
        let to = Self.minutes("to", &reader)
        let timeZone = Self.timeZone(&reader)
        reader.finish()
        guard let from, let to, let timeZone else { return nil }
        guard let window = QuietHours(from: from, to: to, timeZone: timeZone) else {
            reader.refuse("to", "must differ from `from`")
            return nil
        }
        self = window
    }

    /// The window as the API shows it.
    var document: JSONValue {
        ["from": .string(Self.text(from)), "to": .string(Self.text(to)), "timeZone": .string(timeZone.identifier)]
    }

    private static func minutes(_ key: String, _ reader: inout JSONObjectReader) -> Int? {
        guard let text = reader.string(key, required: true, maximumBytes: 64) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count == 5, parts.count == 2, let hour = twoDigits(parts[0]), let minute = twoDigits(parts[1]),
            hour < 24, minute < 60
        else {
            reader.refuse(key, "must be a time of day from 00:00 to 23:59")
            return nil
        }
        return hour * 60 + minute
    }

    private static func twoDigits(_ text: Substring) -> Int? {
        guard text.utf8.count == 2, text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else { return nil }
        return Int(text)
    }

    /// Only names of the IANA database: offsets such as `GMT+7` know no daylight saving and are mostly mistakes.
    private static func timeZone(_ reader: inout JSONObjectReader) -> TimeZone? {
        guard let name = reader.string("timeZone", required: true, maximumBytes: 64) else { return nil }
        let isName = name.contains("/") || name == "UTC" || name == "GMT"
        guard isName, let zone = TimeZone(identifier: name), zone.identifier == name || name == "UTC" else {
            reader.refuse("timeZone", "must be an IANA time zone such as Asia/Bangkok")
            return nil
        }
        return zone
    }

    private static func text(_ minutes: Int) -> String {
        let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        return (hour < 10 ? "0" : "") + "\(hour)" + (minute < 10 ? ":0" : ":") + "\(minute)"
    }
}
