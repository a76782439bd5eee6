import CarillonCore
import CarillonStore
import CoreMetrics
import Logging
import Metrics
import ServiceLifecycle

/// The list of who is where, as several placements need it: home's, what is remembered of it, and what mends it.
struct PlacementListing: Sendable {
    let catalog: PostgresPlacementCatalog
    let directory: PlacementDirectory
    /// The placement of a network, where it can be used.
    let route: Placed<PlacementName>
    let moves: PostgresMoveCatalog
    /// Those that are on their way elsewhere.
    let moving: MovingNetworks
    let runner: MoveRunner
    /// What reads the list, and mends it.
    let services: [any Service]
    private let placements: [PlacementStorage]

    /// The list of some placements, home first.
    init(
        _ settings: Settings,
        _ placements: [PlacementStorage],
        announcements: Announcements,
        metrics: any MetricsFactory,
        logger: Logger
    ) {
        let lookups = Counters<PlacementDirectory.Lookup>(
            "carillon_placement_lookups_total",
            by: "result",
            factory: metrics
        )
        self.placements = placements
        let home = placements[0]
        let file = PlacementFile(dataDirectory: settings.dataDirectory)
        let catalog = PostgresPlacementCatalog(pool: home.pool)
        let moving = MovingNetworks()
        let directory = PlacementDirectory(
            catalog: catalog,
            initial: file.read(),
            announcements: announcements,
            logger: logger,
            count: { lookups.count($0) },
            noteList: { list, former in
                file.write(list, logger)
                moving.note(list.moving)
                // Whatever is remembered of a network may be of its former placement.
                if let former { announcements.deliver(.some(list.moved(since: former).aboutAll)) }
            }
        )
        self.catalog = catalog
        self.directory = directory
        self.moving = moving
        moves = PostgresMoveCatalog(pool: home.pool)
        let states = Dictionary(uniqueKeysWithValues: placements.map { ($0.name, $0.state) })
        let names = Dictionary(uniqueKeysWithValues: placements.map { ($0.name, $0.name) })
        route = Placed(names) { network, access in
            let name = try await directory.placement(of: network, for: access)
            guard let problem = states[name]?.problem else { return name }
            throw PlacementProblem.unavailable(name, reason: problem)
        }
        let stores = PlacedStores(placements: placements, route: route)
        let enter = PlacementEntry(
            catalog: catalog,
            names: placements.map(\.name),
            directory: directory,
            logger: logger
        )
        let pools = stores.placed(\.pool)
        let sweep = PlacementSweep(catalog: catalog, pools: pools, logger: logger)
        let moveMetrics = MoveMetrics(factory: metrics)
        runner = MoveRunner(
            NetworkMover(
                catalog: moves,
                pools: pools.ports,
                logger: logger,
                changed: { network in
                    await directory.changed(in: network)
                    for announcement in Set([network]).aboutAll {
                        announcements.announce(announcement.topic, in: network)
                    }
                },
                ended: { moveMetrics.ended($0) }
            ),
            logger: logger
        )
        services = home.deferred([enter, sweep, runner]) + [directory]
    }

    /// Looks whether a placement is the database that it was, as far as home can say.
    /// - Throws: ``MistakenPlacement``.
    func check(_ name: PlacementName, identity: String) async throws {
        let isRight: Bool
        do { isRight = try await catalog.adopt(name, identity: identity) } catch { return }
        if !isRight { throw MistakenPlacement(name: name) }
    }

    /// Adds how placements are to the metrics, as far as that is known without asking.
    func register(in registry: MetricRegistry) {
        registry.onScrape("carillon_placement_networks") { [directory, placements] in
            let counts = directory.counts
            return placements.map { MetricReading(Double(counts[$0.name] ?? 0), [("placement", $0.name.rawValue)]) }
        }
    }
}

/// Begins the list at home, or goes on with it, before it is used.
private struct PlacementEntry: Service {
    private static let interval = Duration.milliseconds(500)

    let catalog: PostgresPlacementCatalog
    let names: [PlacementName]
    let directory: PlacementDirectory
    let logger: Logger

    func run() async throws {
        try await repeating(with: ()) { _ in
            do {
                try await catalog.enter(names)
                await directory.readAnew()
                return nil
            } catch {
                logger.debug("Could not enter placements in their list", metadata: ["error": "\(error)"])
                return Self.interval
            }
        }
        try? await gracefulShutdown()
    }
}

extension Set<NetworkID> {
    /// That anything of these may have changed, but for where they are.
    fileprivate var aboutAll: Set<Announcement> {
        let topics = Announcement.Topic.allCases.filter { $0 != .placements }
        return Set<Announcement>(flatMap { network in topics.map { Announcement($0, in: network) } })
    }
}
