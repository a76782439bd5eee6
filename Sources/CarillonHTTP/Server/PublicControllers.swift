import CarillonCore
import CarillonEdge
import Hummingbird

/// The controllers of the public API, wired.
struct PublicControllers {
    private let authenticator: Authenticator
    private let cache: CredentialCache
    private let caller: CallerController
    private let overview: OverviewController
    private let networks: NetworkController
    private let credentials: CredentialController
    private let tokenKeys: UserTokenKeyController
    private let tokens: UserTokenController
    private let introspection: IntrospectionController
    private let events: EventController
    private let dialects: DialectController
    private let dialectPosts: DialectPostController
    private let notifications: NotificationController
    private let users: UserController
    private let channels: ChannelController
    private let imports: ImportController
    private let toggles: ToggleController
    private let explain: ExplainController
    private let devices: DeviceController
    private let tags: TagController
    private let subscriptions: SubscriptionController
    private let templates: TemplateController
    private let deadLetters: DeadLetterController
    private let providers: ProviderController
    private let providerCredentials: ProviderCredentialController
    private let brakes: BrakeController
    private let endpoints: EndpointController
    private let relays: RelayController
    private let sources: SourceController
    private let statistics: StatisticsController
    private let description: DescriptionController
    private let bindings: FaceController
    /// The other systems that are answered.
    let faces: [any Face]

    init(_ dependencies: PublicDependencies) {
        let (accounts, directory, clock) = (dependencies.accounts, dependencies.directory, dependencies.clock)
        cache = CredentialCache(
            accounts: accounts,
            announcements: dependencies.announcements,
            logger: dependencies.logger
        )
        authenticator = Authenticator(
            operatorToken: dependencies.operatorToken,
            cache: cache,
            introspector: UserTokenIntrospector(asker: dependencies.asker, metrics: dependencies.metrics),
            rates: dependencies.rates,
            pages: dependencies.pages,
            clock: clock
        )
        caller = CallerController(authenticator: authenticator)
        let networkOverview = NetworkOverview(survey: dependencies.survey, recorder: dependencies.recorder)
        overview = OverviewController(authenticator: authenticator, overview: networkOverview)
        networks = NetworkController(
            authenticator: authenticator,
            accounts: accounts,
            cache: cache,
            overview: networkOverview,
            clock: clock
        )
        credentials = CredentialController(authenticator: authenticator, accounts: accounts, cache: cache, clock: clock)
        tokenKeys = UserTokenKeyController(
            authenticator: authenticator,
            accounts: accounts,
            cache: cache,
            ids: UUIDv7Generator(clock: clock)
        )
        tokens = UserTokenController(authenticator: authenticator, accounts: accounts, clock: clock)
        introspection = IntrospectionController(
            authenticator: authenticator,
            accounts: accounts,
            cache: cache,
            egress: dependencies.egress
        )
        let recent = PostJournal(entries: dependencies.journal, history: dependencies.history)
        let count = PostCount(authenticator: authenticator, recorder: dependencies.recorder)
        events = EventController(
            authenticator: authenticator,
            rates: dependencies.rates,
            accept: dependencies.accept,
            history: dependencies.history,
            journal: recent,
            count: count,
            clock: clock
        )
        dialects = DialectController(
            authenticator: authenticator,
            dialects: accounts,
            cache: cache,
            journal: recent,
            clock: clock
        )
        dialectPosts = DialectPostController(
            authenticator: authenticator,
            rates: dependencies.rates,
            accept: dependencies.accept,
            journal: recent,
            count: count,
            clock: clock
        )
        notifications = NotificationController(
            authenticator: authenticator,
            rates: dependencies.rates,
            accept: dependencies.accept,
            egress: dependencies.egress,
            count: count,
            clock: clock
        )
        users = UserController(authenticator: authenticator, directory: directory)
        channels = ChannelController(authenticator: authenticator, directory: directory)
        imports = ImportController(
            authenticator: authenticator,
            directory: directory,
            devices: dependencies.devices,
            egress: dependencies.egress,
            spools: dependencies.spools,
            clock: clock
        )
        toggles = ToggleController(authenticator: authenticator, toggles: dependencies.toggles)
        explain = ExplainController(
            authenticator: authenticator,
            explainer: Explainer(
                recipients: dependencies.recipients,
                toggles: dependencies.toggles,
                catalog: dependencies.catalog,
                endpoints: { [endpoints = dependencies.endpoints] network in try await endpoints.endpoints(of: network)
                }
            ),
            egress: dependencies.egress,
            clock: clock
        )
        devices = DeviceController(
            authenticator: authenticator,
            devices: dependencies.devices,
            directory: directory,
            egress: dependencies.egress,
            clock: clock
        )
        tags = TagController(authenticator: authenticator, tags: dependencies.tags)
        subscriptions = SubscriptionController(
            authenticator: authenticator,
            tags: dependencies.tags,
            devices: dependencies.devices,
            directory: directory
        )
        templates = TemplateController(
            authenticator: authenticator,
            templates: dependencies.templates,
            catalog: dependencies.catalog,
            recipients: dependencies.recipients,
            clock: clock
        )
        deadLetters = DeadLetterController(
            authenticator: authenticator,
            history: dependencies.history,
            statistics: dependencies.recorder
        )
        statistics = StatisticsController(authenticator: authenticator, statistics: dependencies.statistics)
        providers = ProviderController(
            authenticator: authenticator,
            accounts: accounts,
            credentials: dependencies.credentials,
            providers: dependencies.providers,
            lanes: dependencies.lanes,
            stuckQueue: dependencies.stuckQueue,
            changed: dependencies.credentialChanged
        )
        providerCredentials = ProviderCredentialController(
            authenticator: authenticator,
            credentials: dependencies.credentials,
            formats: dependencies.credentialFormats,
            devices: dependencies.devices,
            changed: dependencies.credentialChanged,
            confirmed: dependencies.credentialConfirmed,
            clock: clock
        )
        brakes = BrakeController(authenticator: authenticator, release: dependencies.releaseBrake, clock: clock)
        endpoints = EndpointController(
            authenticator: authenticator,
            endpoints: dependencies.endpoints,
            lanes: dependencies.lanes,
            changed: dependencies.endpointsChanged,
            enabled: dependencies.endpointEnabled,
            caller: dependencies.endpointCaller,
            egress: dependencies.egress,
            ids: UUIDv7Generator(clock: clock),
            clock: clock
        )
        relays = RelayController(
            authenticator: authenticator,
            endpoints: dependencies.endpoints,
            history: dependencies.relays,
            clock: clock
        )
        sources = SourceController(
            authenticator: authenticator,
            sources: dependencies.sources,
            egress: dependencies.egress
        )
        description = DescriptionController(openAPI: dependencies.openAPI, faces: dependencies.facesOpenAPI)
        faces = dependencies.faces(FaceServices(dependencies, authenticator: authenticator, cache: cache))
        bindings = FaceController(
            authenticator: authenticator,
            faces: faces,
            store: dependencies.faceStore,
            changed: dependencies.facesChanged,
            journal: dependencies.journal,
            clock: clock
        )
    }

    func addRoutes(to router: Router<CarillonRequestContext>) {
        caller.addRoutes(to: router)
        overview.addRoutes(to: router)
        networks.addRoutes(to: router)
        credentials.addRoutes(to: router)
        tokenKeys.addRoutes(to: router)
        tokens.addRoutes(to: router)
        introspection.addRoutes(to: router)
        events.addRoutes(to: router)
        dialects.addRoutes(to: router)
        dialectPosts.addRoutes(to: router)
        notifications.addRoutes(to: router)
        users.addRoutes(to: router)
        channels.addRoutes(to: router)
        imports.addRoutes(to: router)
        toggles.addRoutes(to: router)
        explain.addRoutes(to: router)
        devices.addRoutes(to: router)
        tags.addRoutes(to: router)
        subscriptions.addRoutes(to: router)
        templates.addRoutes(to: router)
        deadLetters.addRoutes(to: router)
        providers.addRoutes(to: router)
        providerCredentials.addRoutes(to: router)
        brakes.addRoutes(to: router)
        endpoints.addRoutes(to: router)
        relays.addRoutes(to: router)
        sources.addRoutes(to: router)
        statistics.addRoutes(to: router)
        description.addRoutes(to: router)
        bindings.addRoutes(to: router)
    }
}

extension FaceServices {
    /// What faces need, of what the public API has.
    fileprivate init(_ dependencies: PublicDependencies, authenticator: Authenticator, cache: CredentialCache) {
        self.init(
            index: dependencies.faceIndex,
            faces: dependencies.faceStore,
            secret: dependencies.faceSecret,
            authenticator: authenticator,
            network: { network in try await cache.credentials(of: network)?.network },
            accept: dependencies.accept,
            devices: dependencies.devices,
            lanes: dependencies.lanes,
            directory: dependencies.directory,
            tags: dependencies.tags,
            toggles: dependencies.toggles,
            templates: dependencies.templates,
            catalog: dependencies.catalog,
            history: dependencies.history,
            journal: dependencies.journal,
            credentials: dependencies.credentials,
            credentialFormats: dependencies.credentialFormats,
            credentialChanged: dependencies.credentialChanged,
            egress: dependencies.egress,
            rates: dependencies.rates,
            metrics: dependencies.metrics,
            logger: dependencies.logger,
            clock: dependencies.clock
        )
    }
}
