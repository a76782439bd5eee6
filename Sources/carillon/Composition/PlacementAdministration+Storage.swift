import CarillonCore
import CarillonStore
import Postgres

extension PlacementAdministration {
    init(_ storage: Storage, migrations: String) {
        let placements = Dictionary(uniqueKeysWithValues: storage.placements.map { ($0.name, $0) })
        self.init(
            names: storage.placements.map(\.name),
            catalog: storage.list?.catalog,
            problem: { placements[$0]?.state.lastProblem },
            networks: { [home = storage.home] in try await home.reportSource.namedNetworks().count },
            known: { [directory = storage.list?.directory] in Set((directory?.counts ?? [:]).keys) },
            moves: storage.list.map { list in
                Moves(catalog: list.moves, directory: list.directory, changed: { _ in list.runner.poke() })
            },
            look: { name in
                guard let placement = placements[name] else { return Look(reason: "its URL is not configured here") }
                return await placement.administrativeLook(migrations: migrations)
            }
        )
    }
}

extension PlacementStorage {
    /// How long somebody who asks how placements are waits for each.
    private static let limit = Duration.seconds(2)

    fileprivate func administrativeLook(migrations: String) async -> PlacementAdministration.Look {
        do {
            return try await withDeadline(Self.limit) { [self] in
                let schema = try await Migrator(pool: pool, directory: migrations, logger: .silent).status()
                let reasons = await probe(readsTable: true).look().reasons
                return PlacementAdministration.Look(
                    reason: reasons.isEmpty ? nil : reasons.joined(separator: "; "),
                    schema: schema,
                    bytes: try await DatabaseSize.bytes(pool)
                )
            }
        } catch {
            let answer = (error as? PostgresError).map { "\($0)" }
            return PlacementAdministration.Look(reason: state.problem ?? answer ?? "PostgreSQL does not answer")
        }
    }
}
