import CarillonCore
import CarillonTesting
import Synchronization
import Testing

/// What ``TagStore`` promises.
@Suite(.stores) struct TagStoreTests {
    let scene = StoreScene.here

    // MARK: Declarations

    @Test func `a tag is declared, replaced and removed`() async throws {
        #expect(try await scene.tags.tag("t", in: scene.network) == nil)
        let first = try await scene.tags.putTag(Tag(id: "t", description: "T"), in: scene.network)
        #expect(first.isNew)
        #expect(first.tag.description == "T" && !first.tag.isSelfService)
        #expect(first.tag.createdAt != nil && first.tag.updatedAt != nil)
        #expect(try await scene.tags.tag("t", in: scene.network) == first.tag)
        let second = try await scene.tags.putTag(Tag(id: "t", isSelfService: true), in: scene.network)
        #expect(!second.isNew)
        #expect(second.tag.description == nil && second.tag.isSelfService)
        #expect(second.tag.createdAt == first.tag.createdAt)
        for _ in 1...2 { try await scene.tags.deleteTag("t", in: scene.network) }
        #expect(try await scene.tags.tag("t", in: scene.network) == nil)
        #expect(try await scene.tags.tags(in: scene.network, after: nil, limit: 9).isEmpty)
        #expect(try await scene.tags.putTag(Tag(id: "t"), in: scene.network).isNew)
    }

    @Test func `declared tags are listed in pages by id`() async throws {
        for id in ["b", "é", "a", "B", "c"] as [TagID] {
            _ = try await scene.tags.putTag(Tag(id: id), in: scene.network)
        }
        try await scene.tags.deleteTag("c", in: scene.network)
        let first = try await scene.tags.tags(in: scene.network, after: nil, limit: 2)
        #expect(first.map(\.id) == ["B", "a"])
        let rest = try await scene.tags.tags(in: scene.network, after: "a", limit: 9)
        #expect(rest.map(\.id) == ["b", "é"])
    }

    @Test func `a network declares no more tags than it may have`() async throws {
        try await scene.setLimits { $0.tags = 3 }
        let written = try await inParallel(10) { number -> Bool in
            do {
                return try await scene.tags.putTag(Tag(id: "t\(number)"), in: scene.network).isNew
            } catch is LimitReached {
                return false
            }
        }
        #expect(written.count { $0 } == 3)
        let kept = try #require(try await scene.tags.tags(in: scene.network, after: nil, limit: 9).first)
        #expect(try await scene.tags.putTag(Tag(id: kept.id, description: "T"), in: scene.network).isNew == false)
        await #expect(throws: LimitReached(.tags, 3)) {
            try await scene.tags.putTag(Tag(id: "more"), in: scene.network)
        }
        try await scene.tags.deleteTag(kept.id, in: scene.network)
        #expect(try await scene.tags.putTag(Tag(id: "more"), in: scene.network).isNew)
    }

    // MARK: Subscriptions

    @Test func `tags need no declaration to be subscribed to`() async throws {
        #expect(try await scene.subscribe(.user("a"), to: "t"))
        #expect(try await scene.subscribers(of: "t") == [.user("a")])
        #expect(try await scene.tags.tag("t", in: scene.network) == nil)
        _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network)
        #expect(try await scene.subscribers(of: "t") == [.user("a")])
    }

    @Test func `subscribing twice is subscribing once`() async throws {
        try await scene.register("d", of: "a")
        for subscriber in [.user("a"), .device("d")] as [Subscriber] {
            for _ in 1...2 { #expect(try await scene.subscribe(subscriber, to: "t")) }
            #expect(try await scene.subscribers(of: "t") == [subscriber])
            for _ in 1...2 { try await scene.unsubscribe(subscriber, from: "t") }
            #expect(try await scene.subscribers(of: "t").isEmpty)
        }
        let all = try await inParallel(10) { _ in try await scene.subscribe(.user("a"), to: "t") }
        #expect(all.allSatisfy { $0 })
    }

    @Test func `an unknown device subscribes to nothing`() async throws {
        #expect(try await scene.subscribe(.device("d"), to: "t") == false)
        try await scene.register("d", of: "a")
        #expect(try await scene.subscribers(of: "t").isEmpty)
        try await scene.unsubscribe(.device("none"), from: "t")
    }

    @Test func `a subscribing user is in the directory`() async throws {
        #expect(try await scene.subscribe(.user("a"), to: "t"))
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await scene.subscribe(.user("a"), to: "u"))
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.tags(of: .user("a")) == ["u"])
    }

    @Test func `subscribers are listed in pages, devices first`() async throws {
        for device in ["d2", "d1"] as [DeviceID] {
            try await scene.register(device, of: "a")
            _ = try await scene.subscribe(.device(device), to: "t")
        }
        for user in ["b", "a", "d1"] as [UserID] { _ = try await scene.subscribe(.user(user), to: "t") }
        _ = try await scene.subscribe(.user("other"), to: "t2")
        let all: [Subscriber] = [.device("d1"), .device("d2"), .user("a"), .user("b"), .user("d1")]
        #expect(try await scene.subscribers(of: "t") == all)
        for (place, after) in all.enumerated() {
            let page = try await scene.tags.subscribers(of: "t", in: scene.network, after: after, limit: 2)
            #expect(page == Array(all.dropFirst(place + 1).prefix(2)))
        }
    }

    @Test func `what somebody subscribes to is listed in pages`() async throws {
        try await scene.register("a", of: "a")
        for subscriber in [.user("a"), .device("a")] as [Subscriber] {
            for tag in ["t3", "t1", "t2"] as [TagID] { _ = try await scene.subscribe(subscriber, to: tag) }
            #expect(try await scene.tags(of: subscriber) == ["t1", "t2", "t3"])
            let page = try await scene.tags.tags(
                of: subscriber,
                in: scene.network,
                selfService: false,
                after: "t1",
                limit: 1
            )
            #expect(page == ["t2"])
            try await scene.unsubscribe(subscriber, from: "t1")
            try await scene.unsubscribe(subscriber, from: "t2")
        }
        #expect(try await scene.tags(of: .user("nobody")).isEmpty)
    }

    @Test func `with self-service only such tags are listed`() async throws {
        _ = try await scene.tags.putTag(Tag(id: "own", isSelfService: true), in: scene.network)
        _ = try await scene.tags.putTag(Tag(id: "given"), in: scene.network)
        for tag in ["own", "given", "undeclared"] as [TagID] { _ = try await scene.subscribe(.user("a"), to: tag) }
        let shown = try await scene.tags.tags(
            of: .user("a"),
            in: scene.network,
            selfService: true,
            after: nil,
            limit: 9
        )
        #expect(shown == ["own"])
        #expect(try await scene.tags(of: .user("a")) == ["given", "own", "undeclared"])
    }

    @Test func `what is done for an owner concerns their devices only`() async throws {
        try await scene.register("d", of: "a")
        func subscribe(for owner: UserID) async throws -> Bool {
            try await scene.tags.subscribe(.device("d"), to: "t", in: scene.network, ifOwnedBy: owner, by: .user)
        }
        #expect(try await subscribe(for: "b") == false)
        #expect(try await scene.subscribers(of: "t").isEmpty)
        #expect(try await subscribe(for: "a"))
        #expect(try await subscribe(for: "b") == false, "not even where it is subscribed")
        try await scene.tags.unsubscribe(.device("d"), from: "t", in: scene.network, ifOwnedBy: "b")
        #expect(try await scene.subscribers(of: "t") == [.device("d")])
        try await scene.tags.unsubscribe(.device("d"), from: "t", in: scene.network, ifOwnedBy: "a")
        #expect(try await scene.subscribers(of: "t").isEmpty)
        #expect(try await scene.tags.subscribe(.user("a"), to: "t", in: scene.network, ifOwnedBy: "a", by: .user))
        try await scene.tags.unsubscribe(.user("a"), from: "t", in: scene.network, ifOwnedBy: "a")
        #expect(try await scene.subscribers(of: "t").isEmpty)
    }

    @Test func `users' subscriptions have a limit, admins' have not`() async throws {
        try await scene.setLimits { $0.tagsPerSubscriber = 2 }
        try await scene.register("d", of: "a")
        for subscriber in [.user("a"), .device("d")] as [Subscriber] {
            for tag in ["t1", "t2", "t1"] as [TagID] {
                #expect(try await scene.subscribe(subscriber, to: tag, by: .user))
            }
            await #expect(throws: LimitReached(.tagsPerSubscriber, 2)) {
                try await scene.subscribe(subscriber, to: "t3", by: .user)
            }
            #expect(try await scene.subscribe(subscriber, to: "t4", by: .admin))
            #expect(try await scene.subscribe(subscriber, to: "t4", by: .user))
            for tag in ["t1", "t4"] as [TagID] { try await scene.unsubscribe(subscriber, from: tag) }
            #expect(try await scene.subscribe(subscriber, to: "t3", by: .user))
        }
        try await scene.tags.deleteTag("t3", in: scene.network)
        #expect(try await scene.subscribe(.user("a"), to: "t5", by: .user), "what is over does not count")
    }

    @Test func `subscriptions that are begun at once do not go over the limit`() async throws {
        try await scene.setLimits { $0.tagsPerSubscriber = 5 }
        let subscribed = try await inParallel(20) { number -> Bool in
            do {
                return try await scene.subscribe(.user("a"), to: "t\(number)", by: .user)
            } catch is LimitReached {
                return false
            }
        }
        #expect(subscribed.count { $0 } == 5)
    }

    // MARK: Devices

    @Test func `a device keeps its subscriptions while it is the same user's`() async throws {
        try await scene.register("d", of: "a", token: "1")
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        try await scene.register("d", of: "a", token: "2")
        #expect(try await scene.subscribers(of: "t") == [.device("d")])
    }

    @Test func `a device that changes hands begins without subscriptions`() async throws {
        try await scene.register("d", of: "a")
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        try await scene.register("d", of: "b")
        #expect(try await scene.subscribers(of: "t").isEmpty)
        #expect(try await scene.tags(of: .device("d")).isEmpty)
        try await scene.register("d", of: "a")
        #expect(try await scene.subscribers(of: "t").isEmpty, "not even when it comes back")
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        #expect(try await scene.subscribers(of: "t") == [.device("d")])
    }

    @Test func `who subscribes a device while it changes hands leaves nothing to its next owner`() async throws {
        for round in 0..<20 {
            let device = DeviceID(trusted: "d\(round)")
            try await scene.register(device, of: "a")
            _ = try await inParallel(2) { number -> Bool in
                guard number == 0 else {
                    try await scene.register(device, of: "b")
                    return true
                }
                return try await scene.tags.subscribe(
                    .device(device),
                    to: "t",
                    in: scene.network,
                    ifOwnedBy: "a",
                    by: .user
                )
            }
        }
        #expect(try await scene.subscribers(of: "t").isEmpty)
    }

    @Test func `an import declares tags and subscribes`() async throws {
        let phone = Device("d", of: "a", at: .seconds(0))
        let records: [ImportRecord] = [
            .device(phone), .tag(Tag(id: "t", description: "1")), .subscription(.device("d"), "t"),
            .subscription(.user("new"), "t"), .subscription(.device("none"), "t"),
            .tag(Tag(id: "t", description: "2", isSelfService: true)), .subscription(.user("new"), "undeclared"),
        ]
        // Once more has the same result.
        for _ in 1...2 {
            try await scene.apply(records)
            #expect(try await scene.subscribers(of: "t") == [.device("d"), .user("new")])
            #expect(try await scene.tags(of: .user("new")) == ["t", "undeclared"])
            #expect(try await scene.directory.user("new", in: scene.network) == Person(id: "new"))
            let tag = try await scene.tags.tag("t", in: scene.network)
            #expect(tag?.description == "2" && tag?.isSelfService == true)
        }
        try await scene.setLimits { $0.tags = 1 }
        await #expect(throws: LimitReached(.tags, 1)) { try await scene.apply([.tag(Tag(id: "t2"))]) }
    }

    @Test func `another network has its own tags`() async throws {
        _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network)
        #expect(try await scene.subscribe(.user("a"), to: "t"))
        let other = scene.inOtherNetwork()
        #expect(try await other.tags.tag("t", in: other.network) == nil)
        #expect(try await other.subscribers(of: "t").isEmpty)
        try await other.tags.deleteTag("t", in: other.network)
        #expect(try await other.directory.deleteUser("a", in: other.network) == false)
        #expect(try await scene.subscribers(of: "t") == [.user("a")])
    }

    // MARK: Removals

    @Test("a tag that comes back has none of its former subscribers", arguments: SweepTime.allCases)
    func tagComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.register("d", of: "a")
        for isDeclared in [true, false, true] {
            if isDeclared { _ = try await scene.tags.putTag(Tag(id: "t"), in: scene.network) }
            for subscriber in [.user("a"), .device("d"), .user("b")] as [Subscriber] {
                #expect(try await scene.subscribe(subscriber, to: "t"))
            }
            try await scene.tags.deleteTag("t", in: scene.network)
            #expect(try await scene.subscribers(of: "t").isEmpty)
            try await sweep()
            #expect(try await scene.tags(of: .user("a")).isEmpty)
            if isDeclared { #expect(try await scene.tags.putTag(Tag(id: "t"), in: scene.network).isNew) }
            #expect(try await scene.subscribers(of: "t").isEmpty)
            #expect(try await scene.subscribe(.user("b"), to: "t"))
            try await sweep()
            #expect(try await scene.subscribers(of: "t") == [.user("b")])
        }
    }

    @Test("a user who comes back subscribes to nothing", arguments: SweepTime.allCases)
    func userComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.register("d", of: "a")
        for subscriber in [.user("a"), .device("d"), .user("b")] as [Subscriber] {
            #expect(try await scene.subscribe(subscriber, to: "t"))
        }
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await scene.subscribers(of: "t") == [.user("b")])
        try await sweep()
        try await scene.register("d", of: "a")
        #expect(try await scene.subscribers(of: "t") == [.user("b")])
        #expect(try await scene.subscribe(.user("a"), to: "u"))
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        try await sweep()
        #expect(try await scene.tags(of: .user("a")) == ["u"])
        #expect(try await scene.subscribers(of: "t") == [.device("d"), .user("b")])
    }

    @Test("a device that comes back subscribes to nothing", arguments: SweepTime.allCases)
    func deviceComesBack(_ time: SweepTime) async throws {
        let sweep = time.sweep(scene)
        try await scene.register("d", of: "a", token: "1")
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        #expect(try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: scene.network))
        #expect(try await scene.subscribers(of: "t").isEmpty)
        try await sweep()
        try await scene.register("d", of: "a", token: "1")
        #expect(try await scene.subscribers(of: "t").isEmpty)
        #expect(try await scene.subscribe(.device("d"), to: "t"))
        // Its token goes to another one, which takes its place.
        try await scene.register("d2", of: "a", token: "1")
        #expect(try await scene.subscribers(of: "t").isEmpty)
    }
}

extension StoreScene {
    fileprivate func register(_ device: DeviceID, of user: UserID, token: String? = nil) async throws {
        let address = token.map { DeviceAddress.apns(token: $0, appID: "app", environment: .production) } ?? .log
        let device = Device(device, of: user, address, at: .seconds(0))
        _ = try await devices.putDevice(device, in: network)
    }

    fileprivate func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        by writer: Writer = .admin
    ) async throws -> Bool {
        try await tags.subscribe(subscriber, to: tag, in: network, ifOwnedBy: nil, by: writer)
    }

    fileprivate func apply(_ records: [ImportRecord]) async throws {
        let batches = Mutex([records])
        try await directory.apply({ batches.withLock { $0.popLast() } }, in: network)
    }

    fileprivate func unsubscribe(_ subscriber: Subscriber, from tag: TagID) async throws {
        try await tags.unsubscribe(subscriber, from: tag, in: network, ifOwnedBy: nil)
    }

    fileprivate func subscribers(of tag: TagID) async throws -> [Subscriber] {
        try await tags.subscribers(of: tag, in: network, after: nil, limit: 100)
    }

    fileprivate func tags(of subscriber: Subscriber) async throws -> [TagID] {
        try await tags.tags(of: subscriber, in: network, selfService: false, after: nil, limit: 100)
    }
}
