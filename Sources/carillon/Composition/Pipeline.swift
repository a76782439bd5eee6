import CarillonCore
import CarillonEdge
import CarillonProviders
import CarillonStore
import CarillonTemplates
import Logging
import ServiceLifecycle

/// The way of an event, from ingest to the providers.
struct Pipeline: Sendable {
    let catalog: TemplateCatalog
    let providers: PushProviders
    let ingestor: Ingestor
    let lanes: LaneKeeper
    let outcomes: OutcomeIntake
    /// Counts what callers and sources do.
    let rates = RequestRates()
    /// What tidies up, what sends and what expands, in the order of dependency.
    let services: [any Service]

    init(
        _ settings: Settings,
        storage: Storage,
        descriptors: DescriptorBudget,
        output: LineWriter,
        logger: Logger
    ) throws {
        do throws(TemplateFileError) {
            catalog = try TemplateCatalog(directory: settings.templates.path)
        } catch {
            throw StartError("\(error)")
        }
        providers = try PushProviders(
            settings,
            storage: storage,
            descriptors: descriptors,
            output: output,
            logger: logger
        )
        let housekeeping = Housekeeping(
            housekeeper: Housekeeper(
                pool: storage.pool,
                clock: storage.clock,
                feedback: storage.feedback,
                logger: logger
            ),
            logger: logger
        )
        let metrics = PipelineMetrics(factory: storage.metrics)
        let outbox = storage.outbox
        let sending = SendingQueue(claims: outbox, logger: logger)
        lanes = LaneKeeper(
            book: outbox,
            devices: storage.devices,
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
            lanes: lanes,
            providers: providers.all,
            metrics: metrics,
            statistics: storage.recorder,
            watch: storage.watch,
            logger: logger
        )
        let claimer = Claimer(
            queue: sending,
            claims: outbox,
            outcomes: outcomes,
            metrics: metrics,
            watch: storage.watch
        )
        LaneMetrics.register(in: storage.metrics, providers: providers.all.map(\.name)) { [lanes] in
            lanes.statuses
        }
        let queue = FanoutQueue(inbox: storage.inbox, logger: logger)
        let notes = EndpointNotes(store: storage.endpoints, clock: storage.clock, logger: logger)
        let interceptor = Interceptor(
            caller: providers.endpoints,
            source: storage.endpoints,
            circuits: lanes,
            notes: notes,
            places: providers.endpointConnections,
            clock: storage.clock,
            metrics: metrics,
            logger: logger
        )
        let fanout = FanoutWorker(
            queue: queue,
            inbox: storage.inbox,
            recipients: storage.recipients,
            expander: Expander(catalog: catalog, ids: storage.ids),
            outbox: outbox,
            sending: sending,
            endpoints: { [book = storage.endpointBook] networks in try await book.endpoints(of: networks) },
            faces: { [book = storage.faceBook] in try await book.index() },
            interceptor: interceptor,
            ids: storage.ids,
            metrics: metrics,
            statistics: storage.recorder,
            watch: storage.watch,
            logger: logger
        )
        ingestor = Ingestor(
            inbox: storage.inbox,
            fanout: queue,
            endpoints: { [book = storage.endpointBook] network in try await book.endpoints(of: network) },
            ids: storage.ids,
            clock: storage.clock,
            metrics: metrics,
            statistics: storage.recorder
        )
        let poller = Poller(
            queue: storage.sources,
            caller: providers.endpoints,
            ingestor: ingestor,
            mayPost: { [accounts = storage.accounts, rates] network, count in
                guard let network = try await accounts.network(network) else { return false }
                return rates.admits(events: count, of: network)
            },
            ids: storage.ids,
            clock: storage.clock,
            egress: settings.egress,
            metrics: PollMetrics(factory: storage.metrics),
            watch: storage.watch,
            logger: logger
        )
        let writer = StatisticsWriter(recorder: storage.recorder, store: storage.statistics, logger: logger)
        let workers: [any Service] = [
            housekeeping, storage.endpointBook, storage.faceBook, notes, writer, storage.journal, lanes, settler,
            sender, claimer, Replayer(history: storage.relays, watch: storage.watch), fanout, poller,
        ]
        services = workers.map { DeferredService($0, until: storage.readiness) }
    }
}
