package import CarillonCore
package import CarillonStore
package import Postgres
package import Testing

/// All stores on one database with two empty networks.
package struct StoreScene: Sendable {
    package private(set) var network = NetworkID(trusted: "acme")
    /// Another one, whose data must never show in the first.
    package private(set) var otherNetwork = NetworkID(trusted: "other")
    package let ids: UUIDv7Generator

    package let inbox: any EventInbox
    package let recipients: any RecipientSource
    package let queue: any Outbox
    package let accounts: any NetworkStore
    package let replays: any ReplayQueue
    package let polls: any SourceQueue
    package let reportSource: any NetworkReportSource

    package let pool: PostgresPool
    package let databases: Placed<PlacementDatabase>
    private let log: PostgresEndpointLog
    private let box: SecretBox
    private let feedback: FeedbackWriter

    package var credentials: any ProviderCredentialStore { PostgresProviderCredentialStore(databases) }
    /// What replicas share of push services.
    package var tokens: any ProviderTokenStore { PostgresProviderTokenStore(pool: pool, box: box) }
    /// Users, channels and members.
    package var directory: any DirectoryStore & MemberStore { PostgresDirectoryStore(databases) }
    package var toggles: any ToggleStore { PostgresToggleStore(databases) }
    package var devices: any DeviceStore & AddressStore & DeviceListStore { PostgresDeviceStore(databases) }
    package var tags: any TagStore & SubscriptionStore { PostgresTagStore(databases) }
    package var templates: any TemplateStore { PostgresTemplateStore(databases) }
    package var endpoints: any EndpointStore { PostgresEndpointStore(databases) }
    package var endpointLog: any EndpointListSource & EndpointLog { log }
    /// What networks are called by other systems' clients.
    package var faces: any FaceStore & FaceMemory { PostgresFaceStore(databases) }
    package var faceList: any FaceListSource { PostgresFaceList(pool: pool, box: box) }
    /// What endpoints are sent.
    package var messages: any RelaySource { log }
    /// What endpoints are asked.
    package var questions: any QuestionSource { log }
    /// What endpoints were told.
    package var relays: any RelayHistory { PostgresRelayHistory(databases) }
    package var history: any EventHistory & DeadLetterStore { PostgresEventHistory(databases) }
    package var sources: any SourceStore { PostgresSourceStore(databases) }
    package var statistics: any StatisticsStore & StatisticsLog { PostgresStatisticsStore(pool: pool) }
    /// What was answered lately.
    package var journal: any JournalStore { PostgresJournalStore(pool: pool) }

    /// All stores in the database of `pool`, without a network; `patience` is had with a former network of a new one's id.
    package init(
        pool: PostgresPool,
        ids: UUIDv7Generator = UUIDv7Generator(),
        patience: Duration = .seconds(4)
    ) throws {
        guard let box = SecretBox(masterKey: [UInt8](repeating: 7, count: 32)) else { throw StoreError.cannotUnseal }
        self.box = box
        self.pool = pool
        self.ids = ids
        var accounts = PostgresAccountStore(pool: pool, box: box, ids: ids)
        accounts.former.rest = .zero
        accounts.patience = patience
        self.accounts = accounts
        log = PostgresEndpointLog(pool: pool, box: box)
        let cache = EndpointCache(store: log, logger: TestDatabase.logger)
        feedback = FeedbackWriter(endpoints: cache, ids: ids)
        databases = Placed(PlacementDatabase(accounts, feedback: feedback))
        let outbox = PostgresOutbox(pool: pool, ids: ids, endpoints: cache)
        let inbox = PostgresEventInbox(pool: pool)
        self.inbox = inbox
        queue = outbox
        recipients = PostgresRecipientSource(pool: pool)
        replays = PostgresReplays(pool: pool, ids: ids)
        polls = PostgresSourceQueue(inbox, box: box)
        reportSource = PostgresNetworkReportSource(pool: pool, outbox: outbox)
    }

    package func inOtherNetwork() -> StoreScene {
        var scene = self
        (scene.network, scene.otherNetwork) = (otherNetwork, network)
        return scene
    }

    /// Lets every lease run out and every delay pass, and sweeps what was removed.
    package func passTime() async throws {
        try await pool.withConnection { session in
            try session.execute("UPDATE inbox SET run_at = now()")
            try session.execute("UPDATE deliveries SET run_at = now()")
            try session.execute("UPDATE sources SET run_at = now()")
        }
        try await RemovalSweep.sweep(pool, telling: feedback)
    }

    /// Lends all stores on a database of their own, with both networks.
    package static func withStores<Value>(
        _ configuration: PostgresConfiguration? = nil,
        _ body: (StoreScene, PostgresPool) async throws -> Value
    ) async throws -> Value {
        try await TestDatabase.withPool(configuration) { pool in
            let scene = try StoreScene(pool: pool)
            for id in [scene.network, scene.otherNetwork] {
                let network = Network(id: id, createdAt: WallClock.system.now())
                try await scene.accounts.createNetwork(network)
            }
            return try await body(scene, pool)
        }
    }

    /// Stores events as the ingest stage does; one receipt for each.
    package func ingest(
        _ parsed: [ParsedEvent],
        in network: NetworkID,
        _ ids: UUIDv7Generator,
        at now: Timestamp
    ) async throws -> [Receipt] {
        let incoming = parsed.map { event -> IncomingEvent? in
            guard case .known(var known) = event.content else { return nil }
            known.trace = known.trace ?? TraceContext.current
            return IncomingEvent(
                networkID: network,
                id: EventID(ids.next()),
                receivedAt: now,
                event: known,
                body: event.body,
                leased: false
            )
        }
        let known = incoming.compactMap(\.self)
        var acceptances = try await inbox.accept(known, lockWait: .milliseconds(300)).makeIterator()
        return incoming.map { event in
            switch event.flatMap({ _ in acceptances.next() }) {
            case .accepted(let id, _)?: Receipt(id: id, status: .accepted)
            case .duplicate(let id)?: Receipt(id: id, status: .duplicate)
            case nil: Receipt(id: EventID(ids.next()), status: .ignored)
            }
        }
    }

    /// The stores of the test that runs: of a suite with the trait `stores`.
    package static var here: StoreScene { lent() }
}

extension Trait where Self == Lending<StoreScene> {
    /// All stores on a database of its own for each test.
    package static var stores: Self { stores { try await TestDatabase.make() } }

    /// All stores on some other database for each test.
    package static func stores(_ configuration: @escaping @Sendable () async throws -> PostgresConfiguration) -> Self {
        Lending { test in
            try await StoreScene.withStores(configuration()) { scene, _ in try await test(scene) }
        }
    }
}
