import CarillonCore
import Postgres

extension SQL {
    /// Whether a row of `networks` is of one that is here, and not one that has left, or is only arriving.
    static let isHere: SQL = "(away IS NULL OR away IN ('draining', 'out'))"
}

extension PostgresSession {
    /// Whether there is something of a network that is not here: it has left, or is arriving.
    func hasLeavings(of network: NetworkID) throws -> Bool {
        try execute("SELECT FROM networks WHERE network_id = \(network.rawValue) AND NOT \(sql: .isHere)") > 0
    }
}
