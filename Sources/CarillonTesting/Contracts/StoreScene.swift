public import CarillonCore

/// All ports of one implementation on one store with two empty networks, for the contract suites.
public struct StoreScene: Sendable {
    /// A network.
    public let network: NetworkID
    /// Another one, whose data must never show in the first.
    public let otherNetwork: NetworkID
    /// Makes ids in the order of time.
    public let ids: UUIDv7Generator

    /// The inbox of accepted events.
    public let inbox: any EventInbox
    /// Who is concerned by them.
    public let recipients: any RecipientSource
    /// The queue of deliveries.
    public let queue: any DeliveryQueue
    /// Networks and credentials.
    public let accounts: any AccountStore
    /// Credentials of push services.
    public let credentials: any ProviderCredentialStore
    /// Users, channels and members.
    public let directory: any DirectoryStore
    /// Toggle documents.
    public let toggles: any ToggleStore
    /// Devices.
    public let devices: any DeviceStore
    /// Networks' own templates.
    public let templates: any TemplateStore
    /// What became of events.
    public let history: any EventHistory

    /// Lets every lease run out and every delay pass.
    public let passTime: @Sendable () async throws -> Void

    /// A scene by its parts; both networks exist.
    public init(
        network: NetworkID,
        otherNetwork: NetworkID,
        ids: UUIDv7Generator,
        inbox: any EventInbox,
        recipients: any RecipientSource,
        queue: any DeliveryQueue,
        accounts: any AccountStore,
        credentials: any ProviderCredentialStore,
        directory: any DirectoryStore,
        toggles: any ToggleStore,
        devices: any DeviceStore,
        templates: any TemplateStore,
        history: any EventHistory,
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
        self.templates = templates
        self.history = history
        self.passTime = passTime
    }
}

/// One promise of a port, checked on an empty store.
public struct ContractClause: Sendable, CustomStringConvertible {
    /// The promise.
    public let description: String
    /// Checks it.
    public let check: @Sendable (StoreScene) async throws -> Void

    /// A promise with its check.
    public init(_ description: String, _ check: @escaping @Sendable (StoreScene) async throws -> Void) {
        self.description = description
        self.check = check
    }
}
