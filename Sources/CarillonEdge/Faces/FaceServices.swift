package import CarillonCore
package import Logging
package import Metrics

/// Everything that faces need of the rest of the service.
package struct FaceServices: Sendable {
    /// All bindings and keys, as they are known here: at most two seconds old, and at once after a change here.
    package var index: @Sendable () async throws -> FaceIndex
    /// Bindings, keys and nonces.
    package var faces: any FaceStore
    /// Signs what callers are handed and come back with.
    package var secret: FaceSecret
    /// Finds out who calls, where the caller has credentials of Carillon's.
    package var authenticator: Authenticator
    /// A network as it is remembered; `nil` when there is none.
    package var network: @Sendable (NetworkID) async throws -> Network?
    /// Makes events durable: all of a call or none, one receipt for each.
    package var accept: @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    package var devices: any DeviceStore
    /// What is reached at addresses, for many who ask at once.
    package var reached: @Sendable ([DeviceAddress], NetworkID) async throws -> [ReachedDevice?]
    /// Lanes that something is wrong with.
    package var lanes: @Sendable () async -> [LaneStatus]
    /// Users, channels and members.
    package var directory: any DirectoryStore
    /// Tags and who subscribes to them.
    package var tags: any TagStore
    /// Toggle documents.
    package var toggles: any ToggleStore
    /// Networks' own templates.
    package var templates: TemplateBook
    /// The built-in templates.
    package var catalog: TemplateCatalog
    /// What became of events.
    package var history: any EventHistory
    /// What was answered lately.
    package var journal: Journal
    /// What networks are known by to push services.
    package var credentials: any ProviderCredentialStore
    /// Reads those credentials.
    package var credentialFormats: [any CredentialFormat]
    /// Told that a credential was stored.
    package var credentialChanged: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Where devices may be reached.
    package var egress: EgressGuard
    /// Counts what callers do.
    package var rates: RequestRates
    /// Where things are counted.
    package var metrics: any MetricsFactory
    /// Where what goes wrong is reported, without tokens, keys and texts.
    package var logger: Logger
    /// The time.
    package var clock: WallClock

    /// Services by their parts.
    package init(
        index: @escaping @Sendable () async throws -> FaceIndex,
        faces: any FaceStore,
        secret: FaceSecret,
        authenticator: Authenticator,
        network: @escaping @Sendable (NetworkID) async throws -> Network?,
        accept: @escaping @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt],
        devices: any DeviceStore,
        lanes: @escaping @Sendable () async -> [LaneStatus] = { [] },
        directory: any DirectoryStore,
        tags: any TagStore,
        toggles: any ToggleStore,
        templates: TemplateBook,
        catalog: TemplateCatalog,
        history: any EventHistory,
        journal: Journal,
        credentials: any ProviderCredentialStore,
        credentialFormats: [any CredentialFormat],
        credentialChanged: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        egress: EgressGuard,
        rates: RequestRates,
        metrics: any MetricsFactory,
        logger: Logger,
        clock: WallClock
    ) {
        self.index = index
        self.faces = faces
        self.secret = secret
        self.authenticator = authenticator
        self.network = network
        self.accept = accept
        self.devices = devices
        let lookup = AddressLookup(devices)
        reached = { try await lookup.devices(reachedAt: $0, in: $1) }
        self.lanes = lanes
        self.directory = directory
        self.tags = tags
        self.toggles = toggles
        self.templates = templates
        self.catalog = catalog
        self.history = history
        self.journal = journal
        self.credentials = credentials
        self.credentialFormats = credentialFormats
        self.credentialChanged = credentialChanged
        self.egress = egress
        self.rates = rates
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }
}
