package import CarillonCore
package import Postgres

/// Tells one database and schema from another, whatever they are called.
package enum PlacementIdentity {
    /// The id that was made with the tables.
    package static func id(_ pool: PostgresPool) async throws -> String {
        try await pool.first("SELECT id::text FROM placements_self", as: String.self) ?? ""
    }
}

/// A placement's URL leads to another database or schema than the one that its networks are in.
package struct MistakenPlacement: Error, CustomStringConvertible {
    package let name: PlacementName

    package init(name: PlacementName) {
        self.name = name
    }

    package var description: String {
        "placement \(name) is another database or schema than the one that its networks are in: its URL must lead there"
    }
}
