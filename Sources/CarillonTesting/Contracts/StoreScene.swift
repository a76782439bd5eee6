package import CarillonCore

/// All ports of one implementation on one store with two empty networks, for the contract suites.
package struct StoreScene: Sendable {
    /// A network.
    package let network: NetworkID
    /// Another one, whose data must never show in the first.
    package let otherNetwork: NetworkID
    /// Makes ids in the order of time.
    package let ids: UUIDv7Generator

    /// The inbox of accepted events.
    package let inbox: any EventInbox
    /// Who is concerned by them.
    package let recipients: any RecipientSource
    /// The deliveries.
    package let queue: any Outbox
    /// Networks and credentials.
    package let accounts: any AccountStore
    /// Credentials of push services.
    package let credentials: any ProviderCredentialStore
    /// Users, channels and members.
    package let directory: any DirectoryStore
    /// Toggle documents.
    package let toggles: any ToggleStore
    /// Devices.
    package let devices: any DeviceStore
    /// Tags and who subscribes to them.
    package let tags: any TagStore
    /// Networks' own templates.
    package let templates: any TemplateStore
    /// Networks' endpoints.
    package let endpoints: any EndpointStore
    /// What networks are called by other systems' clients.
    package let faces: any FaceStore
    /// What endpoints are sent.
    package let messages: any RelaySource
    /// What endpoints are asked.
    package let questions: any QuestionSource
    /// What endpoints were told.
    package let relays: any RelayHistory
    /// What became of events.
    package let history: any EventHistory
    /// Networks' sources.
    package let sources: any SourceStore
    /// Those of them that are asked.
    package let polls: any SourceQueue
    /// What was counted.
    package let statistics: any StatisticsStore
    /// What was answered lately.
    package let journal: any JournalStore
    /// Looks at all networks at once.
    package let survey: any NetworkSurvey

    /// Lets every lease run out and every delay pass.
    package let passTime: @Sendable () async throws -> Void

    /// A scene by its parts; both networks exist.
    package init(
        network: NetworkID,
        otherNetwork: NetworkID,
        ids: UUIDv7Generator,
        inbox: any EventInbox,
        recipients: any RecipientSource,
        queue: any Outbox,
        accounts: any AccountStore,
        credentials: any ProviderCredentialStore,
        directory: any DirectoryStore,
        toggles: any ToggleStore,
        devices: any DeviceStore,
        tags: any TagStore,
        templates: any TemplateStore,
        endpoints: any EndpointStore,
        faces: any FaceStore,
        messages: any RelaySource,
        questions: any QuestionSource,
        relays: any RelayHistory,
        history: any EventHistory,
        sources: any SourceStore,
        polls: any SourceQueue,
        statistics: any StatisticsStore,
        journal: any JournalStore,
        survey: any NetworkSurvey,
        passTime: @escaping @Sendable () async throws -> Void
    ) {
        self.network = network
        self.otherNetwork = otherNetwork
        self.ids = ids
        self.inbox = inbox
        self.recipients = recipients
        self.queue = queue
        self.accounts = accounts
        self.credentials = credentials
        self.directory = directory
        self.toggles = toggles
        self.devices = devices
        self.tags = tags
        self.templates = templates
        self.endpoints = endpoints
        self.faces = faces
        self.messages = messages
        self.questions = questions
        self.relays = relays
        self.history = history
        self.sources = sources
        self.polls = polls
        self.statistics = statistics
        self.journal = journal
        self.survey = survey
        self.passTime = passTime
    }
}

/// One promise of a port, checked on an empty store.
package struct ContractClause: Sendable, CustomStringConvertible {
    /// The promise.
    package let description: String
    /// Checks it.
    package let check: @Sendable (StoreScene) async throws -> Void

    /// A promise with its check.
    package init(_ description: String, _ check: @escaping @Sendable (StoreScene) async throws -> Void) {
        self.description = description
        self.check = check
    }
}
