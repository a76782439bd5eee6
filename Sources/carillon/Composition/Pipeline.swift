import CarillonCore
import CarillonEdge
import CarillonProviders
import CarillonTemplates
import Logging
import ServiceLifecycle

/// The way of an event, from ingest to the providers: one through each placement, and what they use together.
struct Pipeline: Sendable {
    let catalog: TemplateCatalog
    let providers: PushProviders
    /// The way through each placement, to be found by a network.
    let parts: Placed<PlacementPipeline>
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
        let share = PipelineShare(storage: storage, catalog: catalog, providers: providers, rates: rates)
        let parts = PlacedStores(placements: storage.placements, route: storage.route).placed { placement in
            PlacementPipeline(placement, sharing: share, settings, logger: logger)
        }
        self.parts = parts
        LaneMetrics.register(in: storage.metrics, providers: providers.all.map(\.name)) {
            parts.ports.values.flatMap(\.lanes.statuses)
        }
        services = [storage.journal] + storage.placements.flatMap { parts.ports[$0.name]?.services ?? [] }
    }
}
