import CarillonCore
import CarillonTesting
import Testing

/// The stores keep the contracts of their ports.
@Suite struct PostgresContractTests {
    @Test(arguments: EventInboxContract.clauses)
    func eventInbox(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: CreationContract.clauses)
    func creation(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DirectoryFactsContract.clauses)
    func directoryFacts(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: MessageMembersContract.clauses)
    func messageMembers(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: RecipientSourceContract.clauses)
    func recipientSource(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DirectAudienceContract.clauses)
    func directAudiences(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DeliveryQueueContract.clauses)
    func deliveryQueue(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: InterceptionContract.clauses)
    func interceptions(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: RelayBundleContract.clauses)
    func relayBundles(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: LaneBookContract.clauses)
    func laneBook(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: SettlementContract.clauses)
    func settlement(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: AccountStoreContract.clauses)
    func accountStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DirectoryStoreContract.clauses)
    func directoryStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: RemovalContract.clauses)
    func removals(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: ToggleStoreContract.clauses)
    func toggleStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DeviceStoreContract.clauses)
    func deviceStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: SourceContract.clauses)
    func sources(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DeviceListingContract.clauses)
    func deviceListing(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: TagStoreContract.clauses)
    func tagStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: ProviderCredentialStoreContract.clauses)
    func providerCredentialStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: DialectContract.clauses)
    func dialects(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: EndpointStoreContract.clauses)
    func endpointStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: FaceStoreContract.clauses)
    func faceStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: FeedbackContract.clauses)
    func feedback(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: TraceContract.clauses)
    func traces(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: RelayContract.clauses)
    func relay(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: TemplateStoreContract.clauses)
    func templateStore(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: StatisticsContract.clauses)
    func statistics(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: NetworkSurveyContract.clauses)
    func networkSurvey(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: JournalContract.clauses)
    func journal(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }

    @Test(arguments: EventHistoryContract.clauses)
    func eventHistory(_ clause: ContractClause) async throws {
        try await withStores { scene, _ in try await clause.check(scene) }
    }
}
