package import struct Foundation.UUID

/// What one replica counted in a network in one minute, or a part of that.
package struct StatisticsRow: Sendable, Equatable {
    /// What a row is known by, so that it is written once.
    package struct Origin: Sendable, Hashable {
        /// Who counted: made anew at each start.
        package var replica: UUID
        /// The replica's rows are numbered.
        package var number: Int64

        package init(replica: UUID, number: Int64) {
            self.replica = replica
            self.number = number
        }
    }

    package var networkID: NetworkID
    /// When the minute began, by the clock of the replica; of what is added up already, the hour.
    package var at: Timestamp
    /// Who counted it; `nil` for what is added up already, and for what is still counted.
    package var origin: Origin?
    package var figures: StatisticsFigures
    /// When the first of it was counted; `nil` where nobody knows any more.
    package var begunAt: Timestamp?

    package init(
        networkID: NetworkID,
        at: Timestamp,
        origin: Origin?,
        figures: StatisticsFigures,
        begunAt: Timestamp? = nil
    ) {
        self.networkID = networkID
        self.at = at
        self.origin = origin
        self.figures = figures
        self.begunAt = begunAt
    }
}

/// The length of time that figures are shown for.
package enum StatisticsStep: String, Sendable, CaseIterable {
    case minute
    case hour
    /// 24 hours, in UTC.
    case day

    package var duration: Duration {
        switch self {
        case .minute: .seconds(60)
        case .hour: .seconds(3_600)
        case .day: .seconds(86_400)
        }
    }

    package func beginning(of moment: Timestamp) -> Timestamp {
        let length = duration.wholeMilliseconds
        return Timestamp(milliseconds: moment.milliseconds.flooredQuotient(by: length).quotient * length)
    }
}

/// Where figures are written.
package protocol StatisticsLog: Sendable {
    /// Writes rows; those that were written before are left as they are, and those of a network that is gone left out, also when there is
    /// another one of its id.
    func write(_ rows: [StatisticsRow]) async throws
}

/// Where figures are read.
package protocol StatisticsStore: Sendable {
    /// All that was written of a network from a moment until before another; in hours, as far as it is added up.
    ///
    /// Of the rows that are `asked` for, those that were added up are in it as well, with nothing in them: they are written.
    func rows(
        of network: NetworkID,
        from: Timestamp,
        to: Timestamp,
        inHours: Bool,
        asked: [StatisticsRow]
    ) async throws -> [StatisticsRow]
}
