import CarillonCore
import Postgres

extension SQL {
    /// What numbers are drawn from.
    static let sequences = ["marks", "outcome_numbers", "endpoint_revisions"]

    /// Whether a row of `networks` is of one that is here, and not one that has left, or is only arriving.
    static let isHere: SQL = "(away IS NULL OR away IN ('draining', 'out'))"
}

extension PostgresSession {
    /// Whether there is something of a network that is not here: it has left, or is arriving.
    func hasLeavings(of network: NetworkID) throws -> Bool {
        try execute("SELECT FROM networks WHERE network_id = \(network.rawValue) AND NOT \(sql: .isHere)") > 0
    }

    /// Has the transaction pass what keeps others from a network that moves (migration 0063).
    func passMoveFence() throws {
        try execute("SELECT set_config('carillon.mover', 'on', true), set_config('carillon.bundles', 'on', true)")
    }
}
