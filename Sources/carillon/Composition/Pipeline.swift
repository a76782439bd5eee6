import CarillonCore
import CarillonEdge
import CarillonProviders
import CarillonTemplates
import ServiceLifecycle

/// The way of an event, from ingest to the providers: one through each placement, and what they use together.
struct Pipeline: Sendable {
    let catalog: TemplateCatalog
    let providers: PushProviders
    /// The way through each placement, to be found by a network.
    let parts: Placed<PlacementPipeline>
    /// How lanes fare: each network's where that is, since what it leaves in a former placement is there for a while.
    let laneStatuses: @Sendable () -> [LaneStatus]
    /// Makes a network's events durable, and answers what became of each.
    let accept: @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    /// Counts what callers and sources do.
    let rates = RequestRates()
    /// What tidies up, what sends and what expands, in the order of dependency.
    let services: [any Service]

    init(_ ground: Groundwork) throws {
        do throws(TemplateFileError) {
            catalog = try TemplateCatalog(directory: ground.settings.templates.path)
        } catch {
            throw StartError("\(error)")
        }
        providers = try PushProviders(ground)
        let storage = ground.storage
        let share = PipelineShare(ground: ground, catalog: catalog, providers: providers, rates: rates)
        let parts = ground.stores.placed { PlacementPipeline($0, sharing: share) }
        self.parts = parts
        accept = { [states = ground.stores.placed(\.state)] events, network in
            // Nobody here would expand them before the tables are those of this release.
            guard try await states.of(network).hasDatabase else { throw Problem.starting }
            return try await parts.toWrite(network).ingestor.accept(events, for: network)
        }
        laneStatuses = { [list = storage.list] in
            parts.ports.flatMap { name, part in
                part.lanes.statuses.filter { (list?.directory.lastKnown($0.lane.networkID) ?? name) == name }
            }
        }
        LaneMetrics.register(in: storage.metrics, providers: providers.all.map(\.name), lanes: laneStatuses)
        services = [storage.journal] + storage.placements.flatMap { parts.ports[$0.name]?.services ?? [] }
    }
}
