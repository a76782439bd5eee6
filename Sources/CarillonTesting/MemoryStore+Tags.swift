package import CarillonCore

extension MemoryStore: TagStore {
    /// Declares a tag, or replaces its declaration; `isNew` when it was not declared.
    package func putTag(_ tag: Tag, in network: NetworkID) async throws -> (tag: Tag, isNew: Bool) {
        let now = clock.now()
        return try withNetwork(network) { network in
            let isNew = network.tags[tag.id] == nil
            return (try network.declare(tag, at: now), isNew)
        }
    }

    /// A tag; `nil` when it is not declared.
    package func tag(_ id: TagID, in network: NetworkID) async throws -> Tag? {
        try withNetwork(network) { $0.tags[id] }
    }

    /// The declared tags in the order of their ids.
    package func tags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [Tag] {
        try withNetwork(network) { network in
            let rest = network.tags.values.filter { tag in after.map { $0 < tag.id } ?? true }
            return Array(rest.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// Removes a tag's declaration and ends all of its subscriptions; nothing happens when there is neither.
    package func deleteTag(_ id: TagID, in network: NetworkID) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            let ended = network.subscriptions[id, default: [:]].keys.sorted().map { subscriber in
                DirectoryNews.subscription(SubscriptionNews(subscriber, id, over: .tagDeleted))
            }
            network.tags[id] = nil
            network.subscriptions[id] = nil
            network.tell(ended, at: now, ids: ids)
        }
    }

    /// Subscribes a user, who is added to the directory where they are new, or a device. Who is subscribed stays so.
    package func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?,
        by writer: Writer
    ) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard network.isOwned(subscriber, by: owner) else { return false }
            if writer == .user {
                let limit = network.network.limits[.tagsPerSubscriber]
                let tags = network.tags(of: subscriber)
                guard tags.count < limit || tags.contains(tag) else { throw LimitReached(.tagsPerSubscriber, limit) }
            }
            return network.subscribe(subscriber, to: tag, at: now, ids: ids)
        }
    }

    /// Ends a subscription, if there is one.
    package func unsubscribe(
        _ subscriber: Subscriber,
        from tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?
    ) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            guard network.isOwned(subscriber, by: owner) else { return }
            network.unsubscribe(subscriber, from: tag, at: now, ids: ids)
        }
    }

    /// Ends these subscriptions, so far as there are such.
    package func unsubscribe(_ subscriptions: [Subscription], in network: NetworkID) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            for one in Set(subscriptions).sorted() {
                network.unsubscribe(one.subscriber, from: one.tag, at: now, ids: ids)
            }
        }
    }

    /// Who subscribes to a tag, devices first, each in the order of their ids.
    package func subscribers(
        of tag: TagID,
        in network: NetworkID,
        after: Subscriber?,
        limit: Int
    ) async throws -> [Subscriber] {
        try withNetwork(network) { network in
            let all = network.subscriptions[tag, default: [:]].keys.filter { network.isSubscribed($0, to: tag) }
            return Array(all.filter { subscriber in after.map { $0 < subscriber } ?? true }.sorted().prefix(limit))
        }
    }

    /// What somebody subscribes to, in the order of the ids; with `selfService` only what users may subscribe to themselves.
    package func tags(
        of subscriber: Subscriber,
        in network: NetworkID,
        selfService: Bool,
        after: TagID?,
        limit: Int
    ) async throws -> [TagID] {
        try withNetwork(network) { network in
            let tags = network.tags(of: subscriber).filter { tag in
                (!selfService || network.tags[tag]?.isSelfService == true) && (after.map { $0 < tag } ?? true)
            }
            return Array(tags.sorted().prefix(limit))
        }
    }

    /// A part of what the devices of a selection subscribe to by themselves, by tag and device, and how much it is.
    package func subscriptions(
        of selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<DeviceSubscription> {
        try withNetwork(network) { network in
            let all = network.devices(selection).flatMap { device in
                network.tags(of: .device(device.id)).filter { selection.tag ?? $0 == $0 }
                    .map { DeviceSubscription(device: device.id, tag: $0) }
            }
            let sorted = all.sorted { ($0.tag, $0.device) < ($1.tag, $1.device) }
            return CountedPage(of: sorted, offset: offset, limit: limit)
        }
    }

    /// Who subscribes to what, in the order of tags and subscribers: all of it, or what `filter` lets through.
    package func subscriptions(
        matching filter: SubscriptionFilter,
        in network: NetworkID,
        after: Subscription?,
        limit: Int
    ) async throws -> [Subscription] {
        try withNetwork(network) { network in
            let all = network.subscriptions.flatMap { tag, subscribers in
                subscribers.keys.map { Subscription(tag: tag, subscriber: $0) }
            }
            let found = all.filter { subscription in
                filter.matches(subscription) && (after.map { $0 < subscription } ?? true)
                    && network.isSubscribed(subscription.subscriber, to: subscription.tag)
            }
            return Array(found.sorted().prefix(limit))
        }
    }

    /// The tags that somebody subscribes to, declared or not, in the order of their ids.
    package func subscribedTags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [TagID] {
        try withNetwork(network) { network in
            let found = network.subscriptions.filter { tag, subscribers in
                (after.map { $0 < tag } ?? true) && subscribers.keys.contains { network.isSubscribed($0, to: tag) }
            }
            return Array(found.keys.sorted().prefix(limit))
        }
    }
}

extension MemoryNetwork {
    /// Declares a tag, or replaces its declaration.
    mutating func declare(_ tag: Tag, at now: Timestamp) throws -> Tag {
        let limit = network.limits[.tags]
        guard tags[tag.id] != nil || tags.count < limit else { throw LimitReached(.tags, limit) }
        var tag = tag
        tag.createdAt = tags[tag.id]?.createdAt ?? now
        tag.updatedAt = now
        tags[tag.id] = tag
        return tag
    }

    /// Subscribes somebody; `false` when it is a device that is unknown.
    mutating func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> Bool {
        switch subscriber {
        case .device(let id): guard devices[id] != nil else { return false }
        case .user(let id): mention(id)
        }
        if !isSubscribed(subscriber, to: tag) {
            subscriptions[tag, default: [:]][subscriber] = nextMark()
            tell([.subscription(SubscriptionNews(subscriber, tag))], at: now, ids: ids)
        }
        return true
    }

    /// Ends a subscription, if there is one.
    fileprivate mutating func unsubscribe(
        _ subscriber: Subscriber,
        from tag: TagID,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) {
        let isNews = isSubscribed(subscriber, to: tag)
        subscriptions[tag]?[subscriber] = nil
        guard isNews else { return }
        tell([.subscription(SubscriptionNews(subscriber, tag, over: .unsubscribed))], at: now, ids: ids)
    }

    /// Whether it is no device, or one of the owner's.
    fileprivate func isOwned(_ subscriber: Subscriber, by owner: UserID?) -> Bool {
        guard let owner, case .device(let id) = subscriber else { return true }
        return devices[id]?.userID == owner
    }

    /// Whether somebody subscribes to a tag: a device not any more once it is somebody else's.
    func isSubscribed(_ subscriber: Subscriber, to tag: TagID) -> Bool {
        guard let since = subscriptions[tag]?[subscriber] else { return false }
        guard case .device(let id) = subscriber else { return true }
        return devices[id] != nil && deviceMarks[id, default: 0] < since
    }

    /// What somebody subscribes to.
    func tags(of subscriber: Subscriber) -> [TagID] {
        subscriptions.keys.filter { isSubscribed(subscriber, to: $0) }
    }
}
