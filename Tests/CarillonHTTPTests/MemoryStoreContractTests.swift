import CarillonCore
import CarillonTesting
import Testing

/// The store that these tests run on keeps the contracts that PostgreSQL keeps.
@Suite struct MemoryStoreContractTests {
    private static let clauses: [ContractClause] =
        AccountStoreContract.clauses + CreationContract.clauses + DirectoryStoreContract.clauses
        + DirectoryFactsContract.clauses + MessageMembersContract.clauses
        + RemovalContract.clauses
        + ToggleStoreContract.clauses + DeviceStoreContract.clauses + TemplateStoreContract.clauses
        + TagStoreContract.clauses + DeviceListingContract.clauses + SourceContract.clauses
        + EventInboxContract.clauses + RecipientSourceContract.clauses + DirectAudienceContract.clauses
        + DeliveryQueueContract.clauses
        + LaneBookContract.clauses + SettlementContract.clauses + EventHistoryContract.clauses
        + ProviderCredentialStoreContract.clauses + EndpointStoreContract.clauses
        + FaceStoreContract.clauses + DialectContract.clauses
        + RelayContract.clauses + RelayBundleContract.clauses + FeedbackContract.clauses
        + InterceptionContract.clauses + StatisticsContract.clauses + JournalContract.clauses
        + TraceContract.clauses + NetworkSurveyContract.clauses

    @Test(arguments: clauses)
    func keeps(_ clause: ContractClause) async throws {
        let ids = UUIDv7Generator()
        let store = MemoryStore(ids: ids)
        let scene = StoreScene(
            network: NetworkID(trusted: "acme"),
            otherNetwork: NetworkID(trusted: "other"),
            ids: ids,
            inbox: store,
            recipients: store,
            queue: store,
            accounts: store,
            credentials: store,
            directory: store,
            toggles: store,
            devices: store,
            tags: store,
            templates: store,
            endpoints: store,
            faces: store,
            messages: store,
            questions: store,
            relays: store,
            history: store,
            sources: store,
            polls: store,
            statistics: store,
            journal: store,
            survey: store,
            passTime: { store.expireLeases() }
        )
        for network in [scene.network, scene.otherNetwork] {
            _ = try await store.createNetwork(
                NetworkCredentials(
                    network: Network(id: network, createdAt: WallClock.system.now()),
                    webhookSecrets: [],
                    userTokenKeys: [],
                    apiKeys: []
                )
            )
        }
        try await clause.check(scene)
    }
}
