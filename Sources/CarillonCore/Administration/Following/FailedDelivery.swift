/// A device that a notification did not reach, as the log of outcomes has it: the delivery was given up, or expired, or the
/// device was put out of use by it.
package struct FailedDelivery: Sendable, Equatable {
    /// What of the states that deliveries end in is no success.
    package static let states: Set<DeliveryState> = [.dead, .expired, .unregistered]

    /// Where it stands in the log.
    package var cursor: FailureCursor
    package var eventID: EventID
    /// The sender's id of the event; `nil` once the event is not known any more.
    package var sourceID: String?
    package var channelID: ChannelID?
    package var provider: ProviderName
    /// The app whose credential was used, or the host; `nil` where a former release wrote it down.
    package var appID: String?
    package var record: DeviceRecord

    package init(
        cursor: FailureCursor,
        eventID: EventID,
        provider: ProviderName,
        appID: String?,
        record: DeviceRecord
    ) {
        self.cursor = cursor
        self.eventID = eventID
        self.provider = provider
        self.appID = appID
        self.record = record
    }
}

/// Where a failure stands in the log of outcomes, which is in the order of time.
package struct FailureCursor: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// When it was written down, in microseconds since 1970: many are in the same millisecond.
    package var microseconds: Int64
    /// The number of its row.
    package var number: Int64
    /// Its place in the row.
    package var entry: Int

    package init(microseconds: Int64, number: Int64, entry: Int) {
        self.microseconds = microseconds
        self.number = number
        self.entry = entry
    }

    /// The cursor that ``description`` stands for; `nil` for anything else.
    package init?(_ description: String) {
        let parts = description.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 3, let microseconds = Int64(parts[0]), let number = Int64(parts[1]),
            let entry = Int(parts[2]), (0...Int64.max / 2).contains(microseconds)
        else { return nil }
        self.init(microseconds: microseconds, number: number, entry: entry)
    }

    /// When it was written down.
    package var moment: Timestamp { Timestamp(milliseconds: microseconds / 1000) }

    package var description: String { "\(microseconds):\(number):\(entry)" }

    /// The earlier one is the smaller one.
    package static func < (left: Self, right: Self) -> Bool {
        (left.microseconds, left.number, left.entry) < (right.microseconds, right.number, right.entry)
    }
}

package struct FailureQuery: Sendable, Equatable {
    /// Written down then or later.
    package var from: Timestamp?
    /// Written down before.
    package var to: Timestamp?
    package var isOldestFirst: Bool

    package init(from: Timestamp? = nil, to: Timestamp? = nil, isOldestFirst: Bool = false) {
        self.from = from
        self.to = to
        self.isOldestFirst = isOldestFirst
    }

    package func covers(_ cursor: FailureCursor) -> Bool {
        (from.map { $0 <= cursor.moment } ?? true) && (to.map { cursor.moment < $0 } ?? true)
    }

    package func puts(_ first: FailureCursor, before second: FailureCursor) -> Bool {
        isOldestFirst ? first < second : second < first
    }
}
