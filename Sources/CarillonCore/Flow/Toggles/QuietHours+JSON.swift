import Foundation

extension QuietHours {
    /// Reads a window; `nil` after noting what is wrong with it.
    init?(reading reader: inout JSONObjectReader) {
        let from = Self.minutes("from", &reader)
        let to = Self.minutes("to", &reader)
        let timeZone = Self.timeZone(&reader)
        reader.finish()
        guard let from, let to, let timeZone else { return nil }
        guard let window = QuietHours(from: from, to: to, timeZone: timeZone.zone, named: timeZone.name) else {
            reader.refuse("to", "must differ from `from`")
            return nil
        }
        self = window
    }

    /// The window as the API shows it.
    var document: JSONValue {
        ["from": .string(Self.text(from)), "to": .string(Self.text(to)), "timeZone": .string(timeZoneName)]
    }

    private static func minutes(_ key: String, _ reader: inout JSONObjectReader) -> Int? {
        guard let text = reader.string(key, required: true, maximumBytes: 64) else { return nil }
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard text.utf8.count == 5, parts.count == 2, parts[0].utf8.count == 2, let hour = Int(decimal: parts[0]),
            let minute = Int(decimal: parts[1]), hour < 24, minute < 60
        else {
            reader.refuse(key, "must be a time of day from 00:00 to 23:59")
            return nil
        }
        return hour * 60 + minute
    }

    /// Only names of the IANA database: offsets such as `GMT+7` know no daylight saving and are mostly mistakes.
    private static func timeZone(_ reader: inout JSONObjectReader) -> (zone: TimeZone, name: String)? {
        guard let name = reader.string("timeZone", required: true, maximumBytes: 64) else { return nil }
        let isLink = linksWithoutRegion.contains(name)
        guard isLink || name.contains("/"), let zone = TimeZone(identifier: name), isLink || zone.identifier == name
        else {
            reader.refuse("timeZone", "must be an IANA time zone such as Asia/Bangkok")
            return nil
        }
        return (zone, name)
    }

    /// The names of the IANA database (2024a, file `backward` and the older ones) that name no region.
    private static let linksWithoutRegion: Set<String> = [
        "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "GB", "GB-Eire", "GMT", "GMT0", "Greenwich",
        "HST",
        "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein", "Libya", "MET", "MST", "MST7MDT",
        "NZ", "NZ-CHAT",
        "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC", "ROK", "Singapore", "Turkey", "UCT", "UTC",
        "Universal", "W-SU",
        "WET", "Zulu",
    ]

    private static func text(_ minutes: Int) -> String {
        let (hour, minute) = minutes.quotientAndRemainder(dividingBy: 60)
        return (hour < 10 ? "0" : "") + "\(hour)" + (minute < 10 ? ":0" : ":") + "\(minute)"
    }
}
