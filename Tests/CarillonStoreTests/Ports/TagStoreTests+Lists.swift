import CarillonCore
import CarillonStore
import CarillonTesting
import Testing

private let all: [Subscription] = [
    Subscription(tag: "s", subscriber: .device("d")), Subscription(tag: "s", subscriber: .user("a")),
    Subscription(tag: "t", subscriber: .device("d")), Subscription(tag: "t", subscriber: .device("e")),
    Subscription(tag: "t", subscriber: .user("b")), Subscription(tag: "é", subscriber: .user("a")),
]

extension TagStoreTests {
    @Test func `subscriptions are listed in pages by tag and subscriber`() async throws {
        try await scene.subscribe(all)
        let filters = [
            SubscriptionFilter(), SubscriptionFilter(tag: "t"), SubscriptionFilter(tag: "none"),
            SubscriptionFilter(subscribers: [.device("d")]), SubscriptionFilter(subscribers: [.user("a")]),
            SubscriptionFilter(subscribers: [.user("a"), .device("d"), .device("d")]),
            SubscriptionFilter(tag: "t", subscribers: [.user("b"), .device("d")]),
            SubscriptionFilter(subscribers: [.device("a")]), SubscriptionFilter(subscribers: []),
        ]
        for filter in filters {
            for limit in [1, 2, 9] {
                #expect(try await scene.subscriptions(filter, limit: limit) == all.filter(filter.matches))
            }
        }
        let other = scene.inOtherNetwork()
        #expect(try await other.subscriptions(SubscriptionFilter(), limit: 9).isEmpty)
    }

    @Test func `who subscribes to what is read while the network moves`() async throws {
        try await scene.subscribe(all)
        let database = try await scene.databases.of(scene.network)
        let tags = PostgresTagStore(
            Placed([.home: database]) { _, access in
                guard access == .reading else { throw PlacementProblem.moving }
                return .home
            }
        )
        let subscribers = try await tags.subscribers(of: "s", in: scene.network, after: nil, limit: 9)
        #expect(subscribers == [.device("d"), .user("a")])
        #expect(try await tags.subscribedTags(in: scene.network, after: nil, limit: 9) == ["s", "t", "é"])
    }

    @Test func `many subscriptions end at once, and no others`() async throws {
        try await scene.subscribe(all)
        let other = scene.inOtherNetwork()
        try await other.subscribe(all)
        try await scene.tags.unsubscribe([], in: scene.network)
        let unknown = Subscription(tag: "none", subscriber: .user("a"))
        try await scene.tags.unsubscribe([all[5], all[0], unknown, all[0], all[3]], in: scene.network)
        #expect(try await scene.subscriptions(SubscriptionFilter(), limit: 9) == [all[1], all[2], all[4]])
        #expect(try await other.subscriptions(SubscriptionFilter(), limit: 9) == all)
        try await scene.subscribe([all[0]])
        #expect(try await scene.subscriptions(SubscriptionFilter(tag: "s"), limit: 9) == [all[0], all[1]])
    }

    @Test func `tags are listed that somebody subscribes to`() async throws {
        _ = try await scene.tags.putTag(Tag(id: "declared"), in: scene.network)
        try await scene.subscribe(all)
        #expect(try await scene.tags.subscribedTags(in: scene.network, after: nil, limit: 2) == ["s", "t"])
        #expect(try await scene.tags.subscribedTags(in: scene.network, after: "s", limit: 9) == ["t", "é"])
        #expect(try await scene.tags.subscribedTags(in: scene.otherNetwork, after: nil, limit: 9).isEmpty)
    }

    @Test func `what is over is in no list`() async throws {
        try await scene.subscribe(all)
        try await scene.tags.deleteTag("s", in: scene.network)
        #expect(try await scene.devices.deleteDevice("e", ifOwnedBy: nil, in: scene.network))
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        let left = [all[2], all[4]]
        #expect(try await scene.subscriptions(SubscriptionFilter(), limit: 1) == left)
        #expect(try await scene.tags.subscribedTags(in: scene.network, after: nil, limit: 9) == ["t"])
    }

    @Test func `the same installation keeps its subscriptions, whoever uses it`() async throws {
        func register(of user: UserID, secret: [UInt8]?) async throws -> [Subscription] {
            let address = DeviceAddress.fcm(token: "1", appID: "app")
            var device = Device("d", of: user, address, at: .epoch)
            device.secretHash = secret.map(SecretHash.init(bytes:))
            _ = try await scene.devices.putDevice(device, in: scene.network)
            return try await scene.subscriptions(SubscriptionFilter(), limit: 9)
        }
        _ = try await register(of: "a", secret: [1])
        try await scene.subscribe([all[0]])
        #expect(try await register(of: "b", secret: [1]) == [all[0]])
        #expect(try await register(of: "b", secret: [2]) == [all[0]], "it is the same user's")
        #expect(try await register(of: "a", secret: [1]).isEmpty)
        try await scene.subscribe([all[0]])
        // Nobody's secret is no secret that two could share.
        #expect(try await register(of: "a", secret: nil) == [all[0]])
        #expect(try await register(of: "b", secret: nil).isEmpty)
    }
}

extension StoreScene {
    /// Subscribes, devices of nobody among them that are registered for it.
    fileprivate func subscribe(_ subscriptions: [Subscription]) async throws {
        for subscription in subscriptions.shuffled() {
            if case .device(let id) = subscription.subscriber, try await devices.device(id, in: network) == nil {
                _ = try await devices.putDevice(.log(id, of: .nobody), in: network)
            }
            let isDone = try await tags.subscribe(
                subscription.subscriber,
                to: subscription.tag,
                in: network,
                ifOwnedBy: nil,
                by: .admin
            )
            #expect(isDone)
        }
    }

    /// All pages of the subscriptions that a filter lets through.
    fileprivate func subscriptions(_ filter: SubscriptionFilter, limit: Int) async throws -> [Subscription] {
        var all: [Subscription] = []
        while true {
            let page = try await tags.subscriptions(matching: filter, in: network, after: all.last, limit: limit)
            all += page
            if page.count < limit { return all }
        }
    }
}

extension SubscriptionFilter {
    fileprivate func matches(_ subscription: Subscription) -> Bool {
        (tag.map { $0 == subscription.tag } ?? true) && (subscribers?.contains(subscription.subscriber) ?? true)
    }
}
