import CarillonCore
import CarillonStore
import Logging
import Metrics
import Postgres
import ServiceLifecycle

/// One placement: a database, or a schema of one, and everything of its networks that is kept in it.
struct PlacementStorage: Sendable {
    private static let patience = Duration.seconds(1)

    let name: PlacementName
    let state = DatabaseState()
    let databaseClock = DatabaseClock()
    let clock: WallClock
    let ids: UUIDv7Generator
    /// Where what concerns this placement is counted: with its name where there are several.
    let metrics: any MetricsFactory
    /// Whether anything happens.
    let activity: Activity
    /// How the work goes that nobody asks for.
    let watch: QueueWatch
    let configuration: PostgresConfiguration
    let pool: PostgresPool
    /// The way to the server that makes tables, where the pool leads to another.
    let coordinator: PostgresPool?
    let accounts: PostgresAccountStore
    let inbox: PostgresEventInbox
    let outbox: PostgresOutbox
    let recipients: PostgresRecipientSource
    let endpoints: PostgresEndpointLog
    /// What is remembered of endpoints.
    let endpointCache: EndpointCache
    /// What is remembered of names and keys in other systems.
    let faceCache: FaceCache
    /// Tells them what becomes of devices and subscriptions.
    let feedback: FeedbackWriter
    /// All that those need who look it up by the network.
    let database: PlacementDatabase
    private let box: SecretBox
    private let logger: Logger

    var tokens: PostgresProviderTokenStore { PostgresProviderTokenStore(pool: pool, box: box) }
    var devices: PostgresDeviceStore { PostgresDeviceStore(Placed(database)) }
    var replays: PostgresReplays { PostgresReplays(pool: pool, ids: ids) }
    var statistics: PostgresStatisticsStore { PostgresStatisticsStore(pool: pool) }
    var journal: PostgresJournalStore { PostgresJournalStore(pool: pool) }
    var sources: PostgresSourceQueue { PostgresSourceQueue(inbox, box: box) }
    var reportSource: PostgresNetworkReportSource { PostgresNetworkReportSource(pool: pool, outbox: outbox) }

    /// The stores of a placement; nothing is connected yet.
    init(
        _ name: PlacementName,
        configuration: PostgresConfiguration,
        box: SecretBox,
        callLimit: Duration?,
        announcements: Announcements,
        metrics: any MetricsFactory,
        logger: Logger
    ) {
        self.name = name
        self.box = box
        self.metrics = metrics
        self.logger = logger
        clock = databaseClock.wallClock
        ids = UUIDv7Generator(clock: clock)
        activity = Activity(
            mayRest: { announcements.areHeard },
            tell: { network in announcements.announce(.work, in: network) }
        )
        watch = QueueWatch(factory: metrics, logger: logger, activity: activity)
        var configuration = configuration
        let wait = Metrics.Timer(label: "carillon_postgres_wait_seconds", factory: metrics)
        configuration.onWait = { wait.recordNanoseconds($0.nanoseconds) }
        configuration.planForStores()
        configuration.joinUnitsOfWork(callLimit: callLimit, noting: activity)
        self.configuration = configuration
        pool = PostgresPool(configuration: configuration, logger: logger)
        coordinator = configuration.atCoordinator.map { way in
            var way = way
            way.poolSize = 1
            return PostgresPool(configuration: way, logger: logger)
        }
        var accounts = PostgresAccountStore(pool: pool, box: box, ids: ids)
        // What is left of a former network of an id is waited for no longer than the database is.
        if callLimit != nil { accounts.patience = Self.patience }
        self.accounts = accounts
        endpoints = PostgresEndpointLog(pool: pool, box: box)
        endpointCache = EndpointCache(store: endpoints, announcements: announcements, logger: logger)
        faceCache = FaceCache(
            store: PostgresFaceList(pool: pool, box: box),
            announcements: announcements,
            logger: logger
        )
        feedback = FeedbackWriter(endpoints: endpointCache, ids: ids)
        database = PlacementDatabase(accounts, feedback: feedback)
        inbox = PostgresEventInbox(pool: pool)
        outbox = PostgresOutbox(pool: pool, ids: ids, endpoints: endpointCache)
        recipients = PostgresRecipientSource(pool: pool)
    }

    /// Others have left something: it is looked for at once.
    func call() {
        inbox.callForLook()
        outbox.callForLook()
        activity.call()
    }

    /// What works with the database as soon as it is there.
    func deferred(_ services: [any Service]) -> [any Service] {
        services.map { DeferredService(service: $0, state: state) }
    }

    /// The pool, and what keeps the schema in order.
    func services(
        _ settings: Settings,
        migrates: Bool,
        examine: @escaping @Sendable (PostgresPool) async throws -> Void
    ) -> [any Service] {
        let schema = SchemaReadiness(
            configuration: configuration,
            migrations: settings.migrations.path,
            migrates: migrates,
            clock: databaseClock,
            state: state,
            examine: examine,
            logger: logger
        )
        let rotation = MasterKeyRotation(pool: pool, box: box, state: state, logger: logger)
        let databaseWatch = DatabaseWatch(
            pool: pool,
            metrics: DatabaseMetrics(factory: metrics, logger: logger),
            logger: logger
        )
        return [pool] + (coordinator.map { [$0] } ?? []) + [schema] + deferred([rotation, databaseWatch])
    }

    /// Looks whether the placement can be used; `readsTable` says whether by a table, too.
    func probe(readsTable: Bool) -> ReadinessProbe {
        ReadinessProbe(
            state: state,
            pool: pool,
            clock: databaseClock,
            watch: watch,
            oldestWait: { [outbox] in try await outbox.oldestWait() },
            readsTable: readsTable
        )
    }
}

extension Duration {
    /// This duration in nanoseconds, fractions dropped.
    fileprivate var nanoseconds: Int64 { components.seconds * 1_000_000_000 + components.attoseconds / 1_000_000_000 }
}
