import CarillonCore
import CarillonStore
import EmbeddedPostgres
import Logging
import Metrics
import Postgres
import ServiceLifecycle

/// PostgreSQL, and everything that is kept in it.
struct Storage: Sendable {
    /// How long an embedded server may take to stop, within the time that the whole shutdown has.
    private static let stopTimeout = Duration.seconds(8)

    let readiness = Readiness()
    /// What all replicas go by.
    let databaseClock = DatabaseClock()
    let clock: WallClock
    let ids: UUIDv7Generator
    let metrics = MetricRegistry()
    /// How the work goes that nobody asks for.
    let watch: QueueWatch
    /// What happens in networks, counted.
    let recorder: StatisticsRecorder
    /// What was answered lately.
    let journal: Journal
    /// Between this replica and the others.
    let announcements = Announcements()
    let secrets: ServiceSecrets
    let pool: PostgresPool
    let connections: Int
    let accounts: PostgresAccountStore
    let credentials: PostgresProviderCredentialStore
    let devices: PostgresDeviceStore
    let directory: PostgresDirectoryStore
    let inbox: PostgresEventInbox
    let outbox: PostgresOutbox
    let history: PostgresEventHistory
    let recipients: PostgresRecipientSource
    let templates: PostgresTemplateStore
    let toggles: PostgresToggleStore
    let tags: PostgresTagStore
    let endpoints: PostgresEndpointStore
    let faces: PostgresFaceStore
    let relays: PostgresRelayHistory
    let statistics: PostgresStatisticsStore
    let sources: PostgresSourceStore
    /// What is remembered of endpoints.
    let endpointBook: EndpointBook
    /// What is remembered of names and keys in other systems.
    let faceBook: FaceBook
    /// Tells them what becomes of devices and subscriptions.
    let feedback: FeedbackDesk
    /// The server if it is ours, the pool, and what keeps the schema in order.
    let services: [any Service]

    init(_ settings: Settings, logger: Logger) throws {
        clock = databaseClock.wallClock
        ids = UUIDv7Generator(clock: clock)
        recorder = StatisticsRecorder(clock: clock)
        watch = QueueWatch(factory: metrics, logger: logger)
        ProcessMetrics(dataDirectory: settings.dataDirectory, clock: clock).register(in: metrics)
        var cluster: EmbeddedCluster?
        var configuration: PostgresConfiguration
        switch settings.database {
        case .server(let server):
            configuration = server
        case .embedded:
            try DataDirectory(path: settings.dataDirectory).prepare()
            let embedded = EmbeddedCluster(
                configuration: .init(
                    dataDirectory: settings.dataDirectory,
                    stopTimeout: Self.stopTimeout,
                    throwAwayDirectory: settings.throwAwayDirectory
                ),
                logger: logger
            )
            configuration = try PostgresConfiguration(url: embedded.connectionString)
            cluster = embedded
        }
        let hasPrevious = settings.masterKeyPrevious != nil
        metrics.onScrape("carillon_master_key_previous") { [MetricReading(hasPrevious ? 1 : 0)] }
        let wait = Metrics.Timer(label: "carillon_postgres_wait_seconds", factory: metrics)
        configuration.onWait = { wait.recordNanoseconds($0.nanoseconds) }
        secrets = try ServiceSecrets(settings, logger: logger)
        let previous = settings.masterKeyPrevious?.bytes
        guard let box = SecretBox(masterKey: secrets.masterKey.bytes, previous: previous) else {
            throw ConfigurationError(mistakes: ["\(Setting.masterKey.variable) must be 32 bytes in base64"])
        }
        configuration.planForStores()
        configuration.claimBundles()
        configuration.joinUnitsOfWork()
        pool = PostgresPool(configuration: configuration, logger: logger)
        connections = configuration.poolSize
        pool.register(in: metrics)
        accounts = PostgresAccountStore(pool: pool, box: box, ids: ids)
        credentials = PostgresProviderCredentialStore(pool: pool, box: box)
        endpoints = PostgresEndpointStore(accounts: accounts)
        endpointBook = EndpointBook(store: endpoints, announcements: announcements, logger: logger)
        faces = PostgresFaceStore(accounts: accounts)
        faceBook = FaceBook(store: faces, announcements: announcements, logger: logger)
        feedback = FeedbackDesk(endpoints: endpointBook, ids: ids)
        devices = PostgresDeviceStore(pool: pool, feedback: feedback)
        directory = PostgresDirectoryStore(pool: pool, feedback: feedback)
        inbox = PostgresEventInbox(pool: pool)
        outbox = PostgresOutbox(pool: pool, ids: ids, endpoints: endpointBook)
        history = PostgresEventHistory(pool: pool, ids: ids)
        recipients = PostgresRecipientSource(pool: pool)
        templates = PostgresTemplateStore(pool: pool)
        toggles = PostgresToggleStore(pool: pool)
        tags = PostgresTagStore(pool: pool, feedback: feedback)
        relays = PostgresRelayHistory(pool: pool, ids: ids)
        statistics = PostgresStatisticsStore(pool: pool)
        journal = Journal(store: PostgresJournalStore(pool: pool), clock: clock, logger: logger)
        sources = PostgresSourceStore(accounts: accounts, inbox: inbox)
        let schema = SchemaKeeper(
            configuration: configuration,
            migrations: settings.migrations.path,
            migrates: cluster != nil,
            clock: databaseClock,
            readiness: readiness,
            logger: logger
        )
        let post = AnnouncementPost(announcements, pool: pool, configuration: configuration, logger: logger)
        let rotation = MasterKeyRotation(pool: pool, box: box, readiness: readiness, logger: logger)
        let databaseWatch = DatabaseWatch(
            pool: pool,
            metrics: DatabaseMetrics(factory: metrics, logger: logger),
            logger: logger
        )
        services =
            (cluster.map { [$0] } ?? [])
            + [
                pool, schema, DeferredService(post, until: readiness), DeferredService(rotation, until: readiness),
                DeferredService(databaseWatch, until: readiness),
            ]
    }
}

extension Duration {
    /// This duration in nanoseconds, fractions dropped.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}

extension PostgresPool {
    /// Adds what the pool is doing to the metrics.
    fileprivate func register(in registry: MetricRegistry) {
        registry.onScrape("carillon_postgres_connections") {
            let statistics = self.statistics
            return [
                MetricReading(Double(statistics.idle), [("state", "idle")]),
                MetricReading(Double(statistics.leased), [("state", "leased")]),
                MetricReading(Double(statistics.opening), [("state", "opening")]),
            ]
        }
        registry.onScrape("carillon_postgres_waiting") { [MetricReading(Double(self.statistics.waiting))] }
    }
}
