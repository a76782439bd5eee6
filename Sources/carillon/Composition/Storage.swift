import CarillonCore
import CarillonStore
import EmbeddedPostgres
import Logging
import Metrics
import Postgres
import ServiceLifecycle

/// PostgreSQL, and everything that is kept in it: in one placement, or in several.
struct Storage: Sendable {
    /// How long an embedded server may take to stop, within the time that the whole shutdown has.
    private static let stopTimeout = Duration.seconds(8)
    /// How many wait for connections at the most, of all placements together.
    private static let mostWaiting = 4096

    /// Where others work, a placement that hangs is one that is away: its callers are told within about two seconds.
    static let callLimit = Duration.milliseconds(1800)

    let readiness: Readiness
    let metrics = MetricRegistry()
    let recorder: StatisticsRecorder
    let journal: Journal
    /// Between this replica and the others.
    let announcements = Announcements()
    let secrets: ServiceSecrets
    /// The placement that all installations have, which keeps what belongs to no network.
    let home: PlacementStorage
    /// All of them, home first.
    let placements: [PlacementStorage]
    /// Who is where; `nil` where there is one placement.
    let list: PlacementListing?
    let route: Placed<PlacementName>
    let accounts: any NetworkStore
    /// The server if it is ours, the pools, and what keeps the schemas in order.
    let services: [any Service]

    var clock: WallClock { home.clock }

    init(_ settings: Settings, logger: Logger) throws {
        let (configuration, cluster) = try Self.home(settings, logger: logger)
        let hasPrevious = settings.masterKeyPrevious != nil
        metrics.onScrape("carillon_master_key_previous") { [MetricReading(hasPrevious ? 1 : 0)] }
        secrets = try ServiceSecrets(settings, logger: logger)
        let configurations =
            [(PlacementName.home, configuration)] + settings.placements.map { ($0.name, $0.configuration) }
        let areSeveral = configurations.count > 1
        placements = try configurations.map { [metrics, announcements, secrets] name, configuration in
            var configuration = configuration
            configuration.poolSize = settings.placementPoolSize
            configuration.preparesStatements = settings.preparesStatements
            configuration.maxWaiters = Self.mostWaiting / configurations.count
            // Each has its own: it depends on what is stored whether it may seal.
            guard let box = SecretBox(masterKey: secrets.masterKey.bytes, previous: settings.masterKeyPrevious?.bytes)
            else { throw ConfigurationError(mistakes: ["\(Setting.masterKey.variable) must be 32 bytes in base64"]) }
            var logger = logger
            if areSeveral { logger[metadataKey: "placement"] = "\(name)" }
            return PlacementStorage(
                name,
                configuration: configuration,
                box: box,
                callLimit: areSeveral ? Self.callLimit : nil,
                announcements: announcements,
                metrics: areSeveral ? LabelledMetrics(base: metrics, labels: [("placement", name.rawValue)]) : metrics,
                logger: logger
            )
        }
        home = placements[0]
        let clock = home.clock
        recorder = StatisticsRecorder(clock: clock)
        ProcessMetrics(dataDirectory: settings.dataDirectory, clock: clock).register(in: metrics)
        metrics.register(placements)
        list =
            areSeveral
            ? PlacementListing(settings, placements, announcements: announcements, metrics: metrics, logger: logger)
            : nil
        route = list?.route ?? .home
        readiness = Readiness(
            Dictionary(uniqueKeysWithValues: placements.map { ($0.name, $0.state) }),
            knowsPlacements: { [list] in list?.directory.isKnown ?? true }
        )
        let placed = PlacedStores(placements: placements, route: route)
        accounts = placed.accounts(list)
        journal = Journal(store: placed.journal, clock: clock, logger: logger)
        list?.register(in: metrics)
        let catalog = PostgresPlacementCatalog(pool: home.pool)
        let announcementPool = settings.announcements.map { way in
            var way = way
            way.poolSize = 1
            way.preparesStatements = settings.preparesStatements
            return PostgresPool(configuration: way, logger: logger)
        }
        let notifier = AnnouncementNotifier(
            announcements,
            pool: announcementPool ?? home.pool,
            configuration: settings.announcements ?? home.configuration,
            isChosen: settings.announcements != nil,
            logger: logger
        )
        let identities = PlacementIdentities(placements.map(\.name))
        services =
            (cluster.map { [$0] } ?? []) + (announcementPool.map { [$0] } ?? [])
            + placements.flatMap { [list] placement in
                placement.services(settings, migrates: placement.name == .home && cluster != nil) { pool in
                    if let list {
                        let identity = try await identities.check(placement.name, pool)
                        return try await list.check(placement.name, identity: identity)
                    }
                    guard let elsewhere = try await catalog.networkElsewhere() else { return }
                    throw StartError(
                        "network \(elsewhere.network) is in placement \(elsewhere.placement), which"
                            + " \(Setting.placements.variable) does not name: nobody would find it"
                    )
                }
            } + home.deferred([notifier]) + (list?.services ?? [])
    }
}

extension Storage {
    /// Where home is, and the server if it is ours.
    private static func home(_ settings: Settings, logger: Logger) throws -> (PostgresConfiguration, EmbeddedCluster?) {
        switch settings.database {
        case .server(let server): return (server, nil)
        case .embedded:
            try settings.makeDataDirectory()
            let cluster = EmbeddedCluster(
                configuration: .init(
                    dataDirectory: settings.dataDirectory,
                    stopTimeout: stopTimeout,
                    throwAwayDirectory: settings.throwAwayDirectory
                ),
                logger: logger
            )
            return (try PostgresConfiguration(url: cluster.connectionString), cluster)
        }
    }

    /// The token of a key that replicas share, at home. Where home is away and there are other placements, whoever has none makes its own:
    /// Apple takes several of one key, as long as none of them is new too often.
    @Sendable func sharedToken(
        of key: String,
        candidate: ProviderToken,
        ifOlderThan oldest: Timestamp
    ) async throws -> ProviderToken {
        do {
            return try await home.tokens.providerToken(key, candidate: candidate, ifOlderThan: oldest)
        } catch  where list != nil && error.isTransient {
            return candidate
        }
    }
}

extension MetricRegistry {
    /// Adds what the pools are doing.
    fileprivate func register(_ placements: [PlacementStorage]) {
        let pools = placements.map { placement in
            (pool: placement.pool, labels: placements.count > 1 ? [("placement", placement.name.rawValue)] : [])
        }
        onScrape("carillon_postgres_connections") {
            pools.flatMap { pool, labels in
                let statistics = pool.statistics
                return [
                    MetricReading(Double(statistics.idle), labels + [("state", "idle")]),
                    MetricReading(Double(statistics.leased), labels + [("state", "leased")]),
                    MetricReading(Double(statistics.opening), labels + [("state", "opening")]),
                ]
            }
        }
        onScrape("carillon_postgres_waiting") {
            pools.map { MetricReading(Double($0.pool.statistics.waiting), $0.labels) }
        }
    }
}
