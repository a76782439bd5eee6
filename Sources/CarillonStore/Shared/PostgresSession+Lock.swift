import CarillonCore
import Crypto
import Postgres

extension PostgresSession {
    /// Waits until no other transaction holds the lock of this name in the network, and holds it to the end of this one.
    ///
    /// To be taken before any other lock. For what must be counted and added to without anybody in between; rows that
    /// others write on their way, such as the user's, are left alone.
    func lock(_ name: String, in network: NetworkID) throws {
        let digest = SHA256.hash(data: Array("\(network.rawValue.utf8.count):\(network.rawValue):\(name)".utf8))
        let key = digest.prefix(8).reduce(Int64(0)) { $0 << 8 | Int64($1) }
        try execute("SELECT pg_advisory_xact_lock(\(key))")
    }
}
