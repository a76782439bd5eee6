import CarillonCore
import CarillonStore
import Logging
import Postgres

/// Looks at a placement whose tables Citus keeps on another server: where they are, and whether everything works there as it does here.
struct CitusChecks: Sendable {
    let settings: Settings

    /// What is found; nothing where the tables are where they are asked for. The pool leads to the placement.
    func findings(_ pool: PostgresPool, of placement: PlacementName) async throws -> [Finding] {
        guard let configuration = settings.serverToLook(at: placement),
            let schema = try await CitusSchema.look(pool), schema.isDistributed
        else { return [] }
        let (lacking, careless) = try await PostgresPool.withPool(configuration: configuration, logger: .silent) {
            pool in (try await CitusSchema.lackingSettings(pool), try await CitusSchema.careless(pool))
        }
        return [
            Self.place(schema), Self.settings(lacking, careless, of: placement),
            Self.keys(try await schema.tablesWithoutKey(pool)),
            await partitions(configuration, schema),
        ]
    }

    private static func place(_ schema: CitusSchema) -> Finding {
        let place = "version \(schema.version) keeps the schema \(schema.name) on \(schema.node ?? "no server")"
        guard schema.isCoordinator || schema.isThere else {
            return .fail("Citus", "\(place), and connections lead to another worker: name the coordinator in the URL")
        }
        return schema.isCoordinator
            ? .ok("Citus", place)
            : .ok("Citus", "\(place), to which connections lead: all replicas have to go this way")
    }

    private static func settings(
        _ lacking: [CitusSchema.Lacking],
        _ careless: [CitusSchema.Lacking],
        of placement: PlacementName
    ) -> Finding {
        let subject = "settings there"
        guard careless.isEmpty else {
            let list = careless.map(\.description).joined(separator: ", ")
            return .fail(subject, "\(list): an accepted event could be lost")
        }
        guard lacking.isEmpty else {
            let list = lacking.map(\.description).joined(separator: ", ")
            return .fail(subject, "\(list): run carillon placements distribute \(placement)")
        }
        return .ok(subject, "in force where the tables are")
    }

    private static func keys(_ tables: [String]) -> Finding {
        let subject = "keys"
        guard tables.isEmpty else {
            let list = tables.joined(separator: ", ")
            return .warn(subject, "\(list) without a key: the schema can be moved only while nobody writes to it")
        }
        return .ok(subject, "every table has one, so that the schema can be moved under load")
    }

    /// Whether tables can be made by the way that leads to where this is done.
    private func partitions(_ configuration: PostgresConfiguration, _ schema: CitusSchema) async -> Finding {
        let subject = "partitions"
        let way = configuration.atCoordinator ?? configuration
        do {
            return try await PostgresPool.withPool(configuration: way, logger: .silent) { pool in
                guard let there = try await CitusSchema.look(pool), there.name == schema.name, there.isCoordinator
                else {
                    let remedy = "?coordinator=host:port in the placement's URL names the server that does"
                    return .fail(subject, "connections lead to a server that makes no tables: \(remedy)")
                }
                guard try await there.canMakeTables(pool) else {
                    return .fail(subject, "the role \(there.role) may make no tables in the schema \(there.name)")
                }
                return .ok(subject, "of the next days can be made")
            }
        } catch {
            return .fail(subject, "where they are made: \(error)")
        }
    }
}
