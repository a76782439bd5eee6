package import CarillonCore
package import CarillonEdge
package import Metrics
package import Hummingbird
package import Logging

/// Everything that the public API needs of the rest of the service.
package struct PublicDependencies: Sendable {
    /// Networks and credentials.
    package var accounts: any AccountStore
    /// Users, channels and members.
    package var directory: any DirectoryStore
    package var devices: any DeviceStore
    /// Toggle documents.
    package var toggles: any ToggleStore
    /// Tags and who subscribes to them.
    package var tags: any TagStore
    /// Networks' own templates.
    package var templates: TemplateBook
    /// Networks' endpoints.
    package var endpoints: any EndpointStore
    /// Told that a network's endpoints were changed; returns when all who act on them here know it.
    package var endpointsChanged: @Sendable (NetworkID) async -> Void
    /// Told that the endpoint of a lane is in use again.
    package var endpointEnabled: @Sendable (Lane) async -> Void
    /// What endpoints were told.
    package var relays: any RelayHistory
    /// Networks' sources.
    package var sources: any SourceStore
    package var endpointCaller: any EndpointCaller
    /// Whom events concern, as the fan-out reads it.
    package var recipients: any RecipientSource
    /// What became of events.
    package var history: any EventHistory
    /// Where what admins do is counted, and what senders post.
    package var recorder: StatisticsRecorder
    /// What happened in networks.
    package var statistics: StatisticsReader
    /// Looks at all networks at once.
    package var survey: any NetworkSurvey
    /// Makes events durable: all of a call or none, one receipt for each.
    package var accept: @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    /// The built-in templates.
    package var catalog: TemplateCatalog
    /// The providers that this service has.
    package var providers: [ProviderName]
    /// What the lanes of all networks are doing.
    package var lanes: @Sendable () async -> [LaneStatus]
    /// What is due and cannot be claimed, if anything is.
    package var stuckQueue: @Sendable () -> StuckQueue?
    /// What networks are known by to push services.
    package var credentials: any ProviderCredentialStore
    /// Reads those credentials as they are posted.
    package var credentialFormats: [any CredentialFormat]
    /// Told that a credential was stored or removed; without an app when it is for all lanes of the provider.
    package var credentialChanged: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Told that the same credential was stored once more.
    package var credentialConfirmed: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Lets go the brake on unregistrations of a lane until a moment.
    package var releaseBrake: @Sendable (Lane, Timestamp) async throws -> Void
    /// Where devices may be reached.
    package var egress: EgressGuard
    /// Tells other replicas of changed credentials, and this one of theirs.
    package var announcements: Announcements
    /// Asks whose user tokens are that are none of Carillon's.
    package var asker: any UserTokenAsker
    /// Counts what callers do.
    package var rates: RequestRates
    /// Where those wait who read pages.
    package var pages: PagePlaces
    /// The token of those who run the service.
    package var operatorToken: OperatorToken
    /// Makes the other systems that are answered.
    package var faces: @Sendable (FaceServices) -> [any Face]
    /// What networks are called there.
    package var faceStore: any FaceStore
    /// All of that, as it is known here.
    package var faceIndex: @Sendable () async throws -> FaceIndex
    /// Told that a network's bindings or keys were changed; returns when all who act on them here know it.
    package var facesChanged: @Sendable (NetworkID) async -> Void
    /// Signs what their callers are handed and come back with.
    package var faceSecret: FaceSecret
    /// What was answered lately.
    package var journal: Journal
    /// The text of `GET /openapi.yaml`.
    package var openAPI: String
    /// The text of `GET /openapi-faces.yaml`.
    package var facesOpenAPI: String
    /// The admin console; `nil` when it is off.
    package var console: ConsoleFiles?
    /// Where imports are kept while they arrive.
    package var spools: SpoolDirectory
    /// What callers are told of errors that only the adapters know.
    package var problems: ProblemMapping
    /// Where requests are counted.
    package var metrics: any MetricsFactory
    /// Where keys that cannot be read are reported.
    package var logger: Logger
    /// The time.
    package var clock: WallClock

    /// Dependencies by their parts.
    package init(
        accounts: any AccountStore,
        directory: any DirectoryStore,
        devices: any DeviceStore,
        toggles: any ToggleStore,
        tags: any TagStore,
        templates: any TemplateStore,
        endpoints: any EndpointStore,
        endpointsChanged: @escaping @Sendable (NetworkID) async -> Void,
        endpointEnabled: @escaping @Sendable (Lane) async -> Void,
        relays: any RelayHistory,
        sources: any SourceStore,
        endpointCaller: any EndpointCaller,
        recipients: any RecipientSource,
        history: any EventHistory,
        recorder: StatisticsRecorder,
        statistics: StatisticsReader,
        survey: any NetworkSurvey,
        accept: @escaping @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt],
        catalog: TemplateCatalog,
        providers: [ProviderName],
        lanes: @escaping @Sendable () async -> [LaneStatus],
        stuckQueue: @escaping @Sendable () -> StuckQueue? = { nil },
        credentials: any ProviderCredentialStore,
        credentialFormats: [any CredentialFormat],
        credentialChanged: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        credentialConfirmed: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        releaseBrake: @escaping @Sendable (Lane, Timestamp) async throws -> Void,
        egress: EgressGuard,
        announcements: Announcements = Announcements(),
        faces: @escaping @Sendable (FaceServices) -> [any Face] = { _ in [] },
        faceStore: any FaceStore,
        faceIndex: @escaping @Sendable () async throws -> FaceIndex,
        facesChanged: @escaping @Sendable (NetworkID) async -> Void,
        faceSecret: FaceSecret = FaceSecret(),
        journal: Journal,
        operatorToken: OperatorToken,
        openAPI: String,
        facesOpenAPI: String,
        console: ConsoleFiles?,
        spools: SpoolDirectory,
        asker: any UserTokenAsker,
        rates: RequestRates = RequestRates(),
        pages: PagePlaces,
        problems: ProblemMapping = ProblemMapping(),
        metrics: any MetricsFactory,
        logger: Logger,
        clock: WallClock = .system
    ) {
        self.accounts = accounts
        self.directory = directory
        self.devices = devices
        self.toggles = toggles
        self.tags = tags
        self.templates = TemplateBook(templates, announcements: announcements)
        self.endpoints = endpoints
        self.endpointsChanged = endpointsChanged
        self.endpointEnabled = endpointEnabled
        self.relays = relays
        self.sources = sources
        self.endpointCaller = endpointCaller
        self.recipients = recipients
        self.history = history
        self.recorder = recorder
        self.statistics = statistics
        self.survey = survey
        self.accept = accept
        self.catalog = catalog
        self.providers = providers
        self.lanes = lanes
        self.stuckQueue = stuckQueue
        self.credentials = credentials
        self.credentialFormats = credentialFormats
        self.credentialChanged = credentialChanged
        self.credentialConfirmed = credentialConfirmed
        self.releaseBrake = releaseBrake
        self.egress = egress
        self.announcements = announcements
        self.asker = asker
        self.rates = rates
        self.pages = pages
        self.faces = faces
        self.faceStore = faceStore
        self.faceIndex = faceIndex
        self.facesChanged = facesChanged
        self.faceSecret = faceSecret
        self.journal = journal
        self.operatorToken = operatorToken
        self.openAPI = openAPI
        self.facesOpenAPI = facesOpenAPI
        self.console = console
        self.spools = spools
        self.problems = problems
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }
}

/// The routes of the public API.
package enum PublicRouter {
    /// A router with all routes of API sections 2 to 9, and the console.
    package static func make(
        _ dependencies: PublicDependencies,
        settings: ServerSettings = ServerSettings()
    ) -> Router<CarillonRequestContext> {
        let controllers = PublicControllers(dependencies)
        let faces = controllers.faces
        var settings = settings
        if dependencies.console != nil { settings.folders.insert(ConsoleMiddleware.root + "/") }
        let outline = Router(context: CarillonRequestContext.self)
        controllers.addRoutes(to: outline)
        outline.add(faces, index: dependencies.faceIndex)
        let router = Router(context: CarillonRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.addEdge(
            problems: dependencies.problems,
            routes: RouteTable(outline),
            settings: settings,
            faces: faces,
            journal: dependencies.journal,
            metrics: dependencies.metrics
        )
        if let files = dependencies.console { router.add(middleware: ConsoleMiddleware(files: files)) }
        router.add(middleware: RefusalRateMiddleware(rates: dependencies.rates))
        controllers.addRoutes(to: router)
        router.add(faces, index: dependencies.faceIndex)
        return router
    }
}

extension Router<CarillonRequestContext> {
    /// Adds the routes of faces.
    fileprivate func add(_ faces: [any Face], index: @escaping @Sendable () async throws -> FaceIndex) {
        for face in faces { face.addRoutes(to: FaceRoutes(face.name, on: self, index: index)) }
    }
}
