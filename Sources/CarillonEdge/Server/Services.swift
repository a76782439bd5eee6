package import CarillonCore
package import Logging
package import Metrics

/// Everything that routes need of the rest of the service: those of Carillon's own API, and those of faces.
package final class Services: Sendable {
    /// Finds out who calls, where the caller has credentials of Carillon's.
    package let authenticator: Authenticator
    package let cache: CredentialCache
    /// Networks and credentials.
    package let accounts: any NetworkStore
    package let directory: any DirectoryStore & MemberStore
    package let devices: any DeviceStore & AddressStore & DeviceListStore
    /// What is reached at addresses, for many who ask at once.
    package let addresses: AddressLookup
    package let toggles: any ToggleStore
    package let tags: any TagStore & SubscriptionStore
    /// Networks' own templates.
    package let templates: TemplateCache
    package let catalog: TemplateCatalog
    package let endpoints: any EndpointStore
    /// Told that a network's endpoints were changed; returns when all who act on them here know it.
    package let endpointsChanged: @Sendable (NetworkID) async -> Void
    /// Told that the endpoint of a lane is in use again: what waits for it is tried at once.
    package let endpointEnabled: @Sendable (Lane) async -> Void
    package let endpointCaller: any EndpointCaller
    /// What endpoints were told.
    package let relays: any RelayHistory
    package let sources: any SourceStore
    /// Whom events concern, as the fan-out reads it.
    package let recipients: any RecipientSource
    /// Makes events durable: all of a call or none, one receipt for each.
    package let accept: @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    package let history: any EventHistory & DeadLetterStore
    /// What was answered lately.
    package let journal: Journal
    /// Where what admins do is counted, and what senders post.
    package let recorder: StatisticsRecorder
    package let statistics: StatisticsReader
    package let reportSource: any NetworkReportSource
    /// Where networks are kept, and where new ones go.
    package let placements: PlacementAdministration
    package let providers: [ProviderName]
    /// What the lanes of all networks are doing.
    package let lanes: @Sendable () async -> [LaneStatus]
    /// What is due and cannot be claimed where a network is, if anything is.
    package let stuckQueue: @Sendable (NetworkID) -> StuckQueue?
    /// Lets go the brake on unregistrations of a lane until a moment.
    package let releaseBrake: @Sendable (Lane, Timestamp) async throws -> Void
    package let credentials: any ProviderCredentialStore
    package let credentialFormats: [CredentialFormat]
    /// Told that a credential was stored or removed; without an app when it is for all lanes of the provider.
    package let credentialChanged: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Told that the same credential was stored once more.
    package let credentialConfirmed: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// What networks are called in other systems: bindings, keys and nonces.
    package let faceStore: any FaceStore & FaceMemory
    /// All bindings and keys, as they are known here: at most two seconds old, and at once after a change here.
    package let faceLookup: @Sendable () async throws -> FaceLookup
    /// The same for those who cannot wait; `nil` where that takes longer.
    package let rememberedFaces: @Sendable () -> FaceLookup?
    /// Told that a network's bindings or keys were changed; returns when all who act on them here know it.
    package let facesChanged: @Sendable (NetworkID) async -> Void
    /// Signs what faces' callers are handed and come back with.
    package let faceSecret: FaceSecret
    /// Where devices and servers may be reached.
    package let egress: EgressGuard
    package let rates: RequestRates
    /// Why requests failed that were taken on their event loop.
    package let failures = FailedRequests()
    package let metrics: any MetricsFactory
    /// Where what goes wrong is reported, without tokens, keys and texts.
    package let logger: Logger
    package let clock: WallClock
    package let ids: UUIDv7Generator

    /// Makes the authenticator and its cache, whose entries age by `now`.
    package init(
        accounts: any NetworkStore,
        directory: any DirectoryStore & MemberStore,
        devices: any DeviceStore & AddressStore & DeviceListStore,
        toggles: any ToggleStore,
        tags: any TagStore & SubscriptionStore,
        templates: any TemplateStore,
        catalog: TemplateCatalog,
        endpoints: any EndpointStore,
        endpointsChanged: @escaping @Sendable (NetworkID) async -> Void,
        endpointEnabled: @escaping @Sendable (Lane) async -> Void,
        endpointCaller: any EndpointCaller,
        relays: any RelayHistory,
        sources: any SourceStore,
        recipients: any RecipientSource,
        accept: @escaping @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt],
        history: any EventHistory & DeadLetterStore,
        journal: Journal,
        recorder: StatisticsRecorder,
        statistics: StatisticsReader,
        reportSource: any NetworkReportSource,
        placements: PlacementAdministration,
        route: Placed<PlacementName> = .home,
        addresses: AddressLookup? = nil,
        providers: [ProviderName],
        lanes: @escaping @Sendable () async -> [LaneStatus],
        stuckQueue: @escaping @Sendable (NetworkID) -> StuckQueue?,
        releaseBrake: @escaping @Sendable (Lane, Timestamp) async throws -> Void,
        credentials: any ProviderCredentialStore,
        credentialFormats: [CredentialFormat],
        credentialChanged: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        credentialConfirmed: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        faceStore: any FaceStore & FaceMemory,
        faceLookup: @escaping @Sendable () async throws -> FaceLookup,
        rememberedFaces: @escaping @Sendable () -> FaceLookup? = { nil },
        facesChanged: @escaping @Sendable (NetworkID) async -> Void,
        faceSecret: FaceSecret,
        operatorToken: OperatorToken,
        asker: any UserTokenAsker,
        pages: PageSemaphore,
        announcements: Announcements,
        egress: EgressGuard,
        rates: RequestRates,
        metrics: any MetricsFactory,
        logger: Logger,
        clock: WallClock,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        cache = CredentialCache(
            accounts: accounts,
            placements: route,
            announcements: announcements,
            logger: logger,
            now: now
        )
        authenticator = Authenticator(
            operatorToken: operatorToken,
            cache: cache,
            introspector: UserTokenIntrospector(asker: asker, metrics: metrics, now: now),
            rates: rates,
            pages: pages,
            clock: clock
        )
        self.accounts = accounts
        self.directory = directory
        self.devices = devices
        self.addresses = addresses ?? AddressLookup(Placed(devices as any AddressStore))
        self.toggles = toggles
        self.tags = tags
        self.templates = TemplateCache(templates, announcements: announcements)
        self.catalog = catalog
        self.endpoints = endpoints
        self.endpointsChanged = endpointsChanged
        self.endpointEnabled = endpointEnabled
        self.endpointCaller = endpointCaller
        self.relays = relays
        self.sources = sources
        self.recipients = recipients
        self.accept = accept
        self.history = history
        self.journal = journal
        self.recorder = recorder
        self.statistics = statistics
        self.reportSource = reportSource
        self.placements = placements
        self.providers = providers
        self.lanes = lanes
        self.stuckQueue = stuckQueue
        self.releaseBrake = releaseBrake
        self.credentials = credentials
        self.credentialFormats = credentialFormats
        self.credentialChanged = credentialChanged
        self.credentialConfirmed = credentialConfirmed
        self.faceStore = faceStore
        self.faceLookup = faceLookup
        self.rememberedFaces = rememberedFaces
        self.facesChanged = facesChanged
        self.faceSecret = faceSecret
        self.egress = egress
        self.rates = rates
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
        ids = UUIDv7Generator(clock: clock)
    }

    /// A network as it is remembered; `nil` when there is none.
    package func network(_ id: NetworkID) async throws -> Network? { try await cache.credentials(of: id)?.network }

    package func addressReader(for network: Network) -> DeviceAddressReader {
        DeviceAddressReader(egress: egress, webPushHosts: network.webPushHosts)
    }
}
