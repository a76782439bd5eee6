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
    init(_ placement: PlacementStorage, sharing shared: PipelineShare) {
        let (storage, logger, directory) = (shared.storage, shared.logger, shared.storage.list?.directory)
        let metrics = PipelineMetrics(factory: placement.metrics)
        let sending = PlacementSending(placement, sharing: shared, metrics)
        let fanout = PlacementFanout(placement, sharing: shared, metrics, to: sending)
        lanes = sending.lanes
        outcomes = sending.outcomes
        ingestor = Ingestor(
            inbox: placement.inbox,
            fanout: fanout.queue,
            endpoints: { [cache = placement.endpointCache] network in try await cache.endpoints(of: network) },
            ids: placement.ids,
            clock: placement.clock,
            metrics: metrics,
            statistics: storage.recorder,
            deadline: storage.list == nil ? Ingestor.deadline : Storage.callLimit
        )
        let poller = Poller(
            queue: placement.sources,
            caller: shared.providers.endpoints,
            ingestor: ingestor,
            network: { [accounts = placement.accounts] network in try await accounts.network(network) },
            rates: shared.rates,
            ids: placement.ids,
            clock: placement.clock,
            egress: shared.ground.settings.egress,
            metrics: PollMetrics(factory: placement.metrics),
            watch: placement.watch,
            logger: logger
        )
        let housekeeper = Housekeeper(
            pool: placement.pool,
            tables: placement.coordinator,
            clock: placement.clock,
            comparing: placement.databaseClock,
            journalClock: storage.clock,
            feedback: placement.feedback,
            activity: placement.activity,
            logger: logger
        )
        let writer = StatisticsWriter(
            recorder: storage.recorder,
            log: placement.statistics,
            owns: { [name = placement.name] network in
                // Nobody else takes what is counted of a network that is nowhere, or not heard of yet.
                // What is on its way takes its figures with it.
                directory.map { ($0.lastKnown(network) ?? .home) == name && !$0.isMoving(network) } ?? true
            },
            logger: logger
        )
        let halts = MoveHalt(moving: storage.list?.moving) {
            [fanout = fanout.queue, sending = sending.queue] networks in
            await fanout.halt(networks)
            await sending.halt(networks)
        }
        storage.announcements.subscribe(to: .work) { network in
            // Where one that moves is going to be is not known here.
            guard let network, let directory, (directory.lastKnown(network) ?? .home) != placement.name,
                !directory.isMoving(network)
            else { return placement.call() }
        }
        services = placement.deferred(
            [halts, housekeeper, placement.endpointCache, placement.faceCache, fanout.endpointOutcomes, writer]
                + sending.services
                + [Replayer(queue: placement.replays, watch: placement.watch), fanout.worker, poller]
        )
    }
}

/// What sends and settles.
private struct PlacementSending {
    let queue: SendingQueue
    let lanes: LaneHealth
    let outcomes: OutcomeIntake
    let services: [any Service]

    init(_ placement: PlacementStorage, sharing shared: PipelineShare, _ metrics: PipelineMetrics) {
        let (storage, outbox, logger) = (shared.storage, placement.outbox, shared.logger)
        queue = SendingQueue(claims: outbox, limits: .sending.divided(by: shared.divisor), logger: logger)
        lanes = LaneHealth(
            store: outbox,
            devices: placement.devices,
            queue: queue,
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
            queue: queue,
            reader: outbox,
            claims: outbox,
            outcomes: outcomes,
            settlements: settler,
            lanes: lanes,
            providers: shared.providers.all,
            metrics: metrics,
            statistics: storage.recorder,
            watch: placement.watch,
            logger: logger
        )
        let claimer = Claimer(
            queue: queue,
            claims: outbox,
            settlements: settler,
            metrics: metrics,
            watch: placement.watch
        )
        services = [lanes, settler, sender, claimer]
    }
}

/// What expands, and asks endpoints before.
private struct PlacementFanout {
    let queue: FanoutQueue
    let endpointOutcomes: EndpointOutcomeRecorder
    let worker: FanoutWorker

    init(
        _ placement: PlacementStorage,
        sharing shared: PipelineShare,
        _ metrics: PipelineMetrics,
        to sending: PlacementSending
    ) {
        let (providers, logger) = (shared.providers, shared.logger)
        queue = FanoutQueue(
            inbox: placement.inbox,
            capacity: FanoutQueue.usualCapacity / shared.divisor,
            logger: logger
        )
        endpointOutcomes = EndpointOutcomeRecorder(log: placement.endpoints, clock: placement.clock, logger: logger)
        let interceptor = Interceptor(
            caller: providers.endpoints,
            source: placement.endpoints,
            circuits: sending.lanes,
            outcomes: endpointOutcomes,
            slots: max(1, providers.endpointConnections / shared.divisor),
            clock: placement.clock,
            metrics: metrics,
            logger: logger
        )
        worker = FanoutWorker(
            queue: queue,
            inbox: placement.inbox,
            recipients: placement.recipients,
            expander: Expander(catalog: shared.catalog, ids: placement.ids),
            outbox: placement.outbox,
            sending: sending.queue,
            endpoints: { [cache = placement.endpointCache] networks in try await cache.endpoints(of: networks) },
            faces: { [cache = placement.faceCache] in try await cache.index() },
            interceptor: interceptor,
            ids: placement.ids,
            metrics: metrics,
            statistics: shared.storage.recorder,
            watch: placement.watch,
            logger: logger
        )
    }
}

/// What the ways through all placements use together.
struct PipelineShare: Sendable {
    let ground: Groundwork
    let catalog: TemplateCatalog
    let providers: PushProviders
    let rates: RequestRates

    var storage: Storage { ground.storage }
    var logger: Logger { ground.logger }

    /// What a placement's bounds are divided by: it has at least a quarter of what it would have alone.
    var divisor: Int { min(storage.placements.count, 4) }
}
