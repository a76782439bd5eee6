import CarillonCore
import Postgres

/// How far the changes of networks had come before anything else was read: whoever asks for those behind it learns of all that what was read
/// after it may not have seen.
struct ReadPoints {
    private let moment: Timestamp
    private let numbers: [NetworkID: Int64]

    /// What reads them; to be run before, or at one moment with, what is read of the networks.
    static func statement(for networks: Set<NetworkID>) -> SQL {
        """
        SELECT now(), n.network_id, c.seq
        FROM unnest(\(networks.sorted().map(\.rawValue))) AS n (network_id)
        LEFT JOIN LATERAL (
            SELECT c.seq FROM change_counters c WHERE c.network_id = n.network_id AND c.slot = 0 LIMIT 1
        ) AS c ON true
        """
    }

    static let columns = ["timestamptz", "text", "bigint"]

    /// Takes in what the statement answered.
    init(_ answer: StatementResult) throws { try self.init(AnswerPart(answer)) }

    /// The same where it is a part of another statement.
    init(_ answer: AnswerPart) throws {
        var moment: Timestamp?
        var numbers: [NetworkID: Int64] = [:]
        try answer.forEach { row, first in
            moment = try moment ?? row.timestamp(first)
            numbers[try row.id(first + 1)] = try row.decode(first + 2, as: Int64?.self)
        }
        self.moment = moment ?? ReadPoint.longAgo.moment
        self.numbers = numbers
    }

    /// That of a network, in which there may have been no change ever.
    subscript(network: NetworkID) -> ReadPoint { ReadPoint("\(numbers[network] ?? 0)", moment: moment) }
}

extension ReadPoint {
    /// The last change that it knows; `nil` where it is not in the notation of this store.
    var number: Int64? { Int64(rawValue) }

    /// So long ago that everything may have changed since.
    static let longAgo = ReadPoint("0", moment: Timestamp(milliseconds: 0))
}
