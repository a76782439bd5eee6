import CarillonCore
import CarillonStore
import Postgres
import Synchronization

/// Finds out whether two names of placements stand for the same database and schema: their networks would be mixed up.
final class PlacementIdentities: Sendable {
    private let order: [PlacementName]
    private let known = Mutex<[String: PlacementName]>([:])

    /// Nothing is known yet of placements, whose order says which of two is the right one.
    init(_ order: [PlacementName]) {
        self.order = order
    }

    /// Looks whether the database that a placement has is no other's; answers its identity.
    /// - Throws: ``StartError`` where it is.
    @discardableResult
    func check(_ name: PlacementName, _ pool: PostgresPool) async throws -> String {
        let id = try await PlacementIdentity.id(pool)
        let former = known.withLock { known -> PlacementName in
            let former = known[id] ?? name
            known[id] = former
            return former
        }
        guard former != name else { return id }
        let names = [former, name].sorted { (order.firstIndex(of: $0) ?? 0) < (order.firstIndex(of: $1) ?? 0) }
        throw StartError(
            "placements \(names[0]) and \(names[1]) are one database and schema:"
                + " \(Setting.placements.variable) must name others"
        )
    }
}
