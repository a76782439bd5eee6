public import CarillonCore
public import Metrics
public import Hummingbird
public import Logging

/// Everything that the public API needs of the rest of the service.
public struct PublicDependencies: Sendable {
    /// Networks and credentials.
    public var accounts: any AccountStore
    /// Users, channels and members.
    public var directory: any DirectoryStore
    /// Devices.
    public var devices: any DeviceStore
    /// Toggle documents.
    public var toggles: any ToggleStore
    /// Networks' own templates.
    public var templates: any TemplateStore
    /// What became of events.
    public var history: any EventHistory
    /// Makes events durable: all of a call or none, one receipt for each.
    public var accept: @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt]
    /// The built-in templates.
    public var catalog: TemplateCatalog
    /// The providers that this service has.
    public var providers: [ProviderName]
    /// What the lanes of all networks are doing.
    public var lanes: @Sendable () async -> [LaneStatus]
    /// What networks are known by to push services.
    public var credentials: any ProviderCredentialStore
    /// Reads those credentials as they are posted.
    public var credentialFormats: [any CredentialFormat]
    /// Told that a credential was stored or removed; without an app when it is for all lanes of the provider.
    public var credentialChanged: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Told that the same credential was stored once more.
    public var credentialConfirmed: @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void
    /// Lets go the brake on unregistrations of a lane until a moment.
    public var releaseBrake: @Sendable (Lane, Timestamp) async throws -> Void
    /// The token of those who run the service.
    public var operatorToken: OperatorToken
    /// The text of `GET /openapi.yaml`.
    public var openAPI: String
    /// Where imports are kept while they arrive.
    public var temporaryDirectory: String
    /// What callers are told of errors that only the adapters know.
    public var problems: ProblemMapping
    /// Where requests are counted.
    public var metrics: any MetricsFactory
    /// Where keys that cannot be read are reported.
    public var logger: Logger
    /// The time.
    public var clock: WallClock

    /// Dependencies by their parts.
    public init(
        accounts: any AccountStore,
        directory: any DirectoryStore,
        devices: any DeviceStore,
        toggles: any ToggleStore,
        templates: any TemplateStore,
        history: any EventHistory,
        accept: @escaping @Sendable ([ParsedEvent], NetworkID) async throws -> [Receipt],
        catalog: TemplateCatalog,
        providers: [ProviderName],
        lanes: @escaping @Sendable () async -> [LaneStatus],
        credentials: any ProviderCredentialStore,
        credentialFormats: [any CredentialFormat],
        credentialChanged: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        credentialConfirmed: @escaping @Sendable (NetworkID, ProviderName, _ appID: String?) async -> Void,
        releaseBrake: @escaping @Sendable (Lane, Timestamp) async throws -> Void,
        operatorToken: OperatorToken,
        openAPI: String,
        temporaryDirectory: String,
        problems: ProblemMapping = ProblemMapping(),
        metrics: any MetricsFactory,
        logger: Logger,
        clock: WallClock = .system
    ) {
        self.accounts = accounts
        self.directory = directory
        self.devices = devices
        self.toggles = toggles
        self.templates = templates
        self.history = history
        self.accept = accept
        self.catalog = catalog
        self.providers = providers
        self.lanes = lanes
        self.credentials = credentials
        self.credentialFormats = credentialFormats
        self.credentialChanged = credentialChanged
        self.credentialConfirmed = credentialConfirmed
        self.releaseBrake = releaseBrake
        self.operatorToken = operatorToken
        self.openAPI = openAPI
        self.temporaryDirectory = temporaryDirectory
        self.problems = problems
        self.metrics = metrics
        self.logger = logger
        self.clock = clock
    }
}

/// The routes of the public API.
public enum PublicRouter {
    /// A router with all routes of API sections 2 to 9.
    public static func make(
        _ dependencies: PublicDependencies,
        settings: ServerSettings = ServerSettings()
    ) -> Router<CarillonRequestContext> {
        let controllers = PublicControllers(dependencies)
        let outline = Router(context: CarillonRequestContext.self)
        controllers.addRoutes(to: outline)
        let router = Router(context: CarillonRequestContext.self, options: .autoGenerateHeadEndpoints)
        router.addEdge(
            problems: dependencies.problems,
            routes: RouteTable(outline),
            settings: settings,
            metrics: dependencies.metrics
        )
        controllers.addRoutes(to: router)
        return router
    }
}

extension Router<CarillonRequestContext> {
    /// What every request passes on its way in, outermost first.
    func addEdge(
        problems: ProblemMapping,
        routes: RouteTable,
        settings: ServerSettings,
        metrics: any MetricsFactory
    ) {
        let ids = UUIDv7Generator()
        addMiddleware {
            RequestIDMiddleware { ids.next().canonicalText }
            RequestMetricsMiddleware(metrics: RequestMetrics(factory: metrics))
            AccessLogMiddleware()
            ProblemMiddleware(mapping: problems, routes: routes)
            RequestLimitsMiddleware(settings: settings)
        }
    }
}
