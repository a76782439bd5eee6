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

    /// Notes that a network has left for another placement.
    func noteDeparture(of network: NetworkID) throws {
        try execute(
            "INSERT INTO departed_networks (network_id) VALUES (\(network.rawValue)) ON CONFLICT (network_id) DO NOTHING"
        )
    }

    /// A network has come back, or one of its id is made here.
    func forgetDeparture(of network: NetworkID) throws {
        try execute("DELETE FROM departed_networks WHERE network_id = \(network.rawValue)")
    }

    /// Whether any of networks that are not here has left for another placement, and was not deleted.
    func isAnyDeparted(of networks: [NetworkID]) throws -> Bool {
        try execute(
            "SELECT FROM departed_networks WHERE network_id = ANY (\(networks.map(\.rawValue))) LIMIT 1"
        ) > 0
    }

    /// Has the transaction pass what keeps others from a network that moves (migration 0063).
    func passMoveFence() throws {
        try execute("SELECT set_config('carillon.mover', 'on', true), set_config('carillon.bundles', 'on', true)")
    }
}
