extension Timestamp {
    /// Reads an RFC 3339 date-time; `nil` for anything else and for moments outside 1970…9999 in UTC.
    ///
    /// `T` and `Z` may be small letters, the offset is any, and digits beyond milliseconds are cut off. Second 60 is
    /// the first second of the next minute, as this time scale has no leap seconds.
    package init?(rfc3339 text: String) {
        var text = text
        let milliseconds = text.withUTF8 { bytes in
            var reader = DateTimeReader(bytes: bytes)
            return reader.milliseconds()
        }
        guard let milliseconds, (0...Timestamp.lastShown.milliseconds).contains(milliseconds) else { return nil }
        self.init(milliseconds: milliseconds)
    }

    /// RFC 3339 in UTC with exactly three decimals, such as `2026-11-20T10:00:00.000Z`.
    package var description: String {
        let (days, millisecondOfDay) = milliseconds.flooredQuotient(by: 86_400_000)
        let (year, month, day) = civilDate(daysSince1970: days)
        guard (0...9999).contains(year) else { return "\(milliseconds) ms since 1970" }
        return String(unsafeUninitializedCapacity: 24) { text in
            func write(_ value: Int64, _ width: Int, at start: Int, then separator: Unicode.Scalar) {
                var rest = value
                for position in stride(from: start + width - 1, through: start, by: -1) {
                    text[position] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                text[start + width] = UInt8(ascii: separator)
            }
            write(year, 4, at: 0, then: "-")
            write(month, 2, at: 5, then: "-")
            write(day, 2, at: 8, then: "T")
            write(millisecondOfDay / 3_600_000, 2, at: 11, then: ":")
            write(millisecondOfDay / 60_000 % 60, 2, at: 14, then: ":")
            write(millisecondOfDay / 1000 % 60, 2, at: 17, then: ".")
            write(millisecondOfDay % 1000, 3, at: 20, then: "Z")
            return 24
        }
    }

    /// The last moment that RFC 3339 has words for: 9999-12-31T23:59:59.999Z.
    package static let lastShown = Timestamp(milliseconds: 253_402_300_799_999)
}

private struct DateTimeReader {
    let bytes: UnsafeBufferPointer<UInt8>
    var position = 0

    /// The whole text in milliseconds since 1970; `nil` when it is no date-time.
    mutating func milliseconds() -> Int64? {
        guard
            let year = digits(4, in: 1970...9999), skip("-"),
            let month = digits(2, in: 1...12), skip("-"),
            let day = digits(2, in: 1...daysInMonth(month, of: year)), skip("T") || skip("t"),
            let hour = digits(2, in: 0...23), skip(":"),
            let minute = digits(2, in: 0...59), skip(":"),
            let second = digits(2, in: 0...60),
            let fraction = fractionInMilliseconds(),
            let offset = offsetInMinutes(),
            position == bytes.count
        else { return nil }
        let minutes = (daysSince1970(year: year, month: month, day: day) * 24 + hour) * 60 + minute - offset
        return (minutes * 60 + second) * 1000 + fraction
    }

    private mutating func skip(_ character: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: character) else { return false }
        position += 1
        return true
    }

    private mutating func digit() -> Int64? {
        guard position < bytes.count, UInt8(ascii: "0")...UInt8(ascii: "9") ~= bytes[position] else { return nil }
        position += 1
        return Int64(bytes[position - 1] - UInt8(ascii: "0"))
    }

    private mutating func digits(_ count: Int, in range: ClosedRange<Int64>) -> Int64? {
        var value: Int64 = 0
        for _ in 0..<count {
            guard let digit = digit() else { return nil }
            value = value * 10 + digit
        }
        return range.contains(value) ? value : nil
    }

    /// The fraction of a second, zero when there is none; `nil` for a point without digits.
    private mutating func fractionInMilliseconds() -> Int64? {
        guard skip(".") else { return 0 }
        guard let first = digit() else { return nil }
        var value = first * 100
        var weight: Int64 = 10
        while let digit = digit() {
            value += digit * weight
            weight /= 10
        }
        return value
    }

    /// `Z`, or how far local time is ahead of UTC.
    private mutating func offsetInMinutes() -> Int64? {
        if skip("Z") || skip("z") { return 0 }
        let isAhead = skip("+")
        guard isAhead || skip("-") else { return nil }
        guard let hours = digits(2, in: 0...23), skip(":"), let minutes = digits(2, in: 0...59) else { return nil }
        let offset = hours * 60 + minutes
        return isAhead ? offset : -offset
    }
}

private func daysInMonth(_ month: Int64, of year: Int64) -> Int64 {
    switch month {
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    case 4, 6, 9, 11: 30
    default: 31
    }
}

/// Days from 1970-01-01 in the proleptic Gregorian calendar; years are counted from March, so that the leap day is last.
private func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let marchYear = month > 2 ? year : year - 1
    let (era, yearOfEra) = marchYear.flooredQuotient(by: 400)
    let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
    return era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
}

/// The inverse of `daysSince1970(year:month:day:)`.
private func civilDate(daysSince1970 days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (era, dayOfEra) = (days + 719_468).flooredQuotient(by: 146_097)
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let marchMonth = (5 * dayOfYear + 2) / 153
    let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
    let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
    return (era * 400 + yearOfEra + (month <= 2 ? 1 : 0), month, day)
}

extension Int64 {
    /// Division that rounds down, so that the remainder is never negative.
    func flooredQuotient(by divisor: Int64) -> (quotient: Int64, remainder: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}

extension JSONObjectReader {
    /// An RFC 3339 date-time.
    package mutating func timestamp(_ key: String, required: Bool = false) -> Timestamp? {
        guard let value = value(key, required: required) else { return nil }
        guard case .string(let text) = value, let timestamp = Timestamp(rfc3339: text) else {
            refuse(key, "must be a date and time of RFC 3339, such as 2026-11-20T10:00:00.000Z")
            return nil
        }
        return timestamp
    }
}

extension JSONValue {
    /// A moment as RFC 3339, or `null`.
    package init(_ moment: Timestamp?) {
        self.init(moment?.description)
    }
}
