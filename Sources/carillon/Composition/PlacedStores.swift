import CarillonCore
import CarillonStore

/// The stores that routes ask: those of the one placement there is, or of all.
struct PlacedStores: Sendable {
    let placements: [PlacementStorage]
    let route: Placed<PlacementName>

    /// What is made of each placement, to be found by a network.
    func placed<Port: Sendable>(_ port: @Sendable (PlacementStorage) -> Port) -> Placed<Port> {
        let ports = Dictionary(uniqueKeysWithValues: placements.map { ($0.name, port($0)) })
        return Placed(ports) { [route] network, access in
            access == .writing ? try await route.toWrite(network) : try await route.of(network)
        }
    }

    /// The one there is, with nothing in between, or what finds it by the network.
    private func one<Port>(
        _ port: @Sendable (PlacementStorage) -> Port,
        or placed: (Placed<Port>) -> Port
    ) -> Port {
        placements.count == 1 ? port(placements[0]) : placed(self.placed(port))
    }

    func accounts(_ list: PlacementListing?) -> any NetworkStore {
        guard let list else { return placements[0].accounts }
        return PlacedAccounts(placed { $0.accounts }, catalog: list.catalog, directory: list.directory)
    }

    private var databases: Placed<PlacementDatabase> { placed(\.database) }

    var faces: any FaceStore & FaceMemory {
        PostgresFaceStore(databases, names: placements.count == 1 ? nil : FaceNames(pool: placements[0].pool))
    }
    var directory: any DirectoryStore & MemberStore { PostgresDirectoryStore(databases) }
    var devices: any DeviceStore & AddressStore & DeviceListStore { PostgresDeviceStore(databases) }
    var toggles: any ToggleStore { PostgresToggleStore(databases) }
    var tags: any TagStore & SubscriptionStore { PostgresTagStore(databases) }
    var templates: any TemplateStore { PostgresTemplateStore(databases) }
    var endpoints: any EndpointStore { PostgresEndpointStore(databases) }
    var relays: any RelayHistory { PostgresRelayHistory(databases) }
    var sources: any SourceStore { PostgresSourceStore(databases) }
    var history: any EventHistory & DeadLetterStore { PostgresEventHistory(databases) }
    var credentials: any ProviderCredentialStore { PostgresProviderCredentialStore(databases) }

    var messages: Placed<any RelaySource> {
        placements.count == 1 ? Placed(placements[0].endpoints) : placed(\.endpoints)
    }
    var recipients: any RecipientSource { one({ $0.recipients }, or: { $0 }) }
    var reportSource: any NetworkReportSource { one({ $0.reportSource }, or: { $0 }) }
    var journal: any JournalStore { one({ $0.journal }, or: { $0 }) }
    var statistics: any StatisticsStore { one({ $0.statistics }, or: { $0 }) }
}
