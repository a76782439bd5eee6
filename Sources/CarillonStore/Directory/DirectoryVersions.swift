import CarillonCore
import Postgres

/// How often networks' directories have been changed, so that what was read of them is known to hold, or not.
///
/// A version is counted up in the transaction that changes a name or a description, or ends a membership. What is added counts nothing, nor
/// does what merely confirms a row. It is the second counter of ``recordingChanges(of:)``'s table, which
/// outlives its network like the first.
struct DirectoryVersions {
    private let numbers: [NetworkID: Int64]

    /// What reads them; to be run before what is read of the networks' directories.
    static func statement(for networks: Set<NetworkID>) -> SQL {
        """
        SELECT n.network_id, c.seq
        FROM unnest(\(networks.sorted().map(\.rawValue))) AS n (network_id)
        CROSS JOIN LATERAL (
            SELECT c.seq FROM change_counters c WHERE c.network_id = n.network_id AND c.slot = 1 LIMIT 1
        ) AS c
        """
    }

    /// Takes in what the statement, or those that count up, answered.
    init(_ answers: some Sequence<StatementResult>) throws {
        var numbers: [NetworkID: Int64] = [:]
        for answer in answers {
            try answer.forEach { row in numbers[try row.id(0)] = try row.decode(1, as: Int64.self) }
        }
        self.numbers = numbers
    }

    /// That of a network, in which nothing may have been changed ever.
    subscript(network: NetworkID) -> Int64 { numbers[network] ?? 0 }
}

extension SQL {
    /// What counts up the versions of networks' directories, and answers them: the last that a transaction writes, behind
    /// ``recordingChanges(of:)``, since they stay locked until its end. Of several networks those that there are not are passed over.
    static func countingDirectories(of networks: Set<NetworkID>) -> SQL {
        let rows: SQL
        if let network = networks.first, networks.count == 1 {
            rows = "VALUES (\(network.rawValue), 1, 1, now())"
        } else {
            rows = """
                SELECT n.network_id, 1, 1, now() FROM unnest(\(networks.sorted().map(\.rawValue))) AS n (network_id)
                \(sql: .ofNetworks)
                """
        }
        return .countingUp(rows) + " RETURNING c.network_id, c.seq"
    }
}

extension PostgresSession {
    /// Notes that a network's directory was changed; as the last that the transaction writes.
    func countDirectory(of network: NetworkID) throws {
        try pipeline([.countingDirectories(of: [network])])
    }
}
