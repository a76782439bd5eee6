import CarillonCore
import CarillonEdge
import CarillonStore
import Logging
import ServiceLifecycle

/// The way of the events of one placement, from ingest to the providers: nothing in it waits for another placement.
struct PlacementPipeline: Sendable {
    let ingestor: Ingestor
    let lanes: LaneHealth
    let outcomes: OutcomeIntake
    /// What tidies up, what sends and what expands, in the order of dependency.
    let services: [any Service]

    /// The way through a placement, which gets its share of what the process has.
    init(_ placement: PlacementStorage, sharing shared: PipelineShare, _ settings: Settings, logger: Logger) {
        let storage = shared.storage
        let providers = shared.providers
        let housekeeper = Housekeeper(
            pool: placement.pool,
            tables: placement.coordinator,
            clock: placement.clock,
            comparing: placement.databaseClock,
            feedback: placement.feedback,
            activity: placement.activity,
            logger: logger
        )
        let metrics = PipelineMetrics(factory: placement.metrics)
        let outbox = placement.outbox
        let sending = SendingQueue(claims: outbox, limits: .sending.divided(by: shared.divisor), logger: logger)
        lanes = LaneHealth(
            store: outbox,
            devices: placement.devices,
            queue: sending,
            announcements: storage.announcements,
            logger: logger
        )
        let settler = Settler(
            log: outbox,
            lanes: lanes,
            metrics: metrics,
            statistics: storage.recorder,
            logger: logger
        )
        outcomes = OutcomeIntake(lanes: lanes, settler: settler, metrics: metrics)
        storage.announcements.subscribe(to: .credentials) { [outcomes] network in
            // Which credential it was is not told; what was answered meanwhile is tried again, no more.
            for provider in ProviderName.allCases {
                guard let network else { return }
                outcomes.credentialChanged(LaneSelection(networkID: network, provider: provider, appID: nil))
            }
        }
        let sender = Sender(
            queue: sending,
            reader: outbox,
            claims: outbox,
            outcomes: outcomes,
            settlements: settler,
            lanes: lanes,
            providers: providers.all,
            metrics: metrics,
            statistics: storage.recorder,
            watch: placement.watch,
            logger: logger
        )
        let claimer = Claimer(
            queue: sending,
            claims: outbox,
            settlements: settler,
            metrics: metrics,
            watch: placement.watch
        )
        let queue = FanoutQueue(
            inbox: placement.inbox,
            capacity: FanoutQueue.usualCapacity / shared.divisor,
            logger: logger
        )
        let endpointOutcomes = EndpointOutcomeRecorder(log: placement.endpoints, clock: placement.clock, logger: logger)
        let interceptor = Interceptor(
            caller: providers.endpoints,
            source: placement.endpoints,
            circuits: lanes,
            outcomes: endpointOutcomes,
            slots: max(1, providers.endpointConnections / shared.divisor),
            clock: placement.clock,
            metrics: metrics,
            logger: logger
        )
        let fanout = FanoutWorker(
            queue: queue,
            inbox: placement.inbox,
            recipients: placement.recipients,
            expander: Expander(catalog: shared.catalog, ids: placement.ids),
            outbox: outbox,
            sending: sending,
            endpoints: { [cache = placement.endpointCache] networks in try await cache.endpoints(of: networks) },
            faces: { [cache = placement.faceCache] in try await cache.index() },
            interceptor: interceptor,
            ids: placement.ids,
            metrics: metrics,
            statistics: storage.recorder,
            watch: placement.watch,
            logger: logger
        )
        ingestor = Ingestor(
            inbox: placement.inbox,
            fanout: queue,
            endpoints: { [cache = placement.endpointCache] network in try await cache.endpoints(of: network) },
            ids: placement.ids,
            clock: placement.clock,
            metrics: metrics,
            statistics: storage.recorder,
            deadline: storage.list == nil ? Ingestor.deadline : Storage.callLimit
        )
        let poller = Poller(
            queue: placement.sources,
            caller: providers.endpoints,
            ingestor: ingestor,
            network: { [accounts = placement.accounts] network in try await accounts.network(network) },
            rates: shared.rates,
            ids: placement.ids,
            clock: placement.clock,
            egress: settings.egress,
            metrics: PollMetrics(factory: placement.metrics),
            watch: placement.watch,
            logger: logger
        )
        let writer = StatisticsWriter(
            recorder: storage.recorder,
            log: placement.statistics,
            owns: { [directory = storage.list?.directory, name = placement.name] network in
                // Nobody else takes what is counted of a network that is nowhere, or not heard of yet.
                // What is on its way takes its figures with it.
                directory.map { ($0.lastKnown(network) ?? .home) == name && !$0.isMoving(network) } ?? true
            },
            logger: logger
        )
        let halts = MoveHalt(moving: storage.list?.moving) { networks in
            await queue.halt(networks)
            await sending.halt(networks)
        }
        storage.announcements.subscribe(to: .work) {
            [placement, directory = storage.list?.directory] network in
            // Where one that moves is going to be is not known here.
            guard let network, let directory, (directory.lastKnown(network) ?? .home) != placement.name,
                !directory.isMoving(network)
            else { return placement.call() }
        }
        services = placement.deferred([
            halts,
            housekeeper, placement.endpointCache, placement.faceCache, endpointOutcomes, writer, lanes, settler,
            sender, claimer, Replayer(queue: placement.replays, watch: placement.watch), fanout, poller,
        ])
    }
}

/// What the ways through all placements use together.
struct PipelineShare: Sendable {
    let storage: Storage
    let catalog: TemplateCatalog
    let providers: PushProviders
    let rates: RequestRates

    /// What a placement's bounds are divided by: it has at least a quarter of what it would have alone.
    var divisor: Int { min(storage.placements.count, 4) }
}
