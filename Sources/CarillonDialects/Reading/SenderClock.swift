import CarillonCore

/// Reads when senders say that something happened. Whatever is missing or cannot be is now.
struct SenderClock {
    /// 2000-01-01: earlier than any of these services.
    private static let earliest = Timestamp(milliseconds: 946_684_800_000)

    let now: Timestamp

    func rfc3339(_ value: JSONValue?) -> Timestamp {
        possible(value?.text.flatMap { Timestamp(rfc3339: $0) })
    }

    /// Milliseconds since 1970.
    func milliseconds(_ value: JSONValue?) -> Timestamp {
        possible(value?.wholeNumber.map { Timestamp(milliseconds: Int64($0)) })
    }

    /// Seconds since 1970.
    func seconds(_ value: JSONValue?) -> Timestamp {
        possible(
            value?.wholeNumber.flatMap { seconds in
                let (milliseconds, overflow) = Int64(seconds).multipliedReportingOverflow(by: 1000)
                return overflow ? nil : Timestamp(milliseconds: milliseconds)
            }
        )
    }

    /// A date and time of RFC 3339, or nanoseconds since 1970.
    func rfc3339OrNanoseconds(_ value: JSONValue?) -> Timestamp {
        guard let nanoseconds = value?.wholeNumber else { return rfc3339(value) }
        return possible(Timestamp(milliseconds: Int64(nanoseconds / 1_000_000)))
    }

    private func possible(_ moment: Timestamp?) -> Timestamp {
        guard let moment, moment >= Self.earliest, moment <= now + EventParser.clockTolerance else { return now }
        return moment
    }
}
