import CarillonCore
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
    let dispatcher: Dispatcher
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
            housekeeper: Housekeeper(pool: storage.pool, clock: storage.clock, logger: logger),
            logger: logger
        )
        let metrics = PipelineMetrics(factory: storage.metrics)
        dispatcher = Dispatcher(
            queue: storage.deliveries,
            devices: storage.devices,
            providers: providers.all,
            clock: storage.clock,
            metrics: metrics,
            logger: logger
        )
        LaneMetrics.register(in: storage.metrics, providers: providers.all.map(\.name)) { [dispatcher] in
            dispatcher.laneStatuses
        }
        let queue = FanoutQueue(inbox: storage.inbox, logger: logger)
        let fanout = FanoutWorker(
            queue: queue,
            inbox: storage.inbox,
            recipients: storage.recipients,
            expander: Expander(catalog: catalog, ids: storage.ids, clock: storage.clock),
            deliveries: storage.deliveries,
            dispatcher: dispatcher,
            metrics: metrics,
            logger: logger
        )
        ingestor = Ingestor(
            inbox: storage.inbox,
            fanout: queue,
            ids: storage.ids,
            clock: storage.clock,
            metrics: metrics
        )
        let workers: [any Service] = [housekeeping, dispatcher, fanout]
        services = workers.map { DeferredService($0, until: storage.readiness) }
    }
}
