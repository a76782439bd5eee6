/// The tags of a network (FACES section B2).
package protocol TagStore: Sendable {
    /// Declares a tag, or replaces its declaration; `isNew` when it was not declared.
    /// - Throws: ``LimitReached`` when the network would have too many; nothing is changed then.
    func putTag(_ tag: Tag, in network: NetworkID) async throws -> (tag: Tag, isNew: Bool)
    func tag(_ id: TagID, in network: NetworkID) async throws -> Tag?
    /// The declared tags in the order of their ids.
    func tags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [Tag]
    /// Removes a tag's declaration and ends all of its subscriptions; nothing happens when there is neither.
    func deleteTag(_ id: TagID, in network: NetworkID) async throws
    /// Ends all subscriptions to a tag, which stays declared if it is; takes no longer the more there are.
    func unsubscribeAll(from tag: TagID, in network: NetworkID) async throws
}

/// Who subscribes to the tags of a network.
///
/// A subscription ends with its tag, its user, or its device: also when something of the same name comes back, it does not.
/// A device that somebody else registers begins without subscriptions, unless it proves that it is the same installation.
package protocol SubscriptionStore: Sendable {
    /// Subscribes a user, who is added to the directory where they are new, or a device. Who is subscribed stays so.
    ///
    /// - Parameters:
    ///   - subscriber: Who.
    ///   - tag: To what, declared or not.
    ///   - network: The network.
    ///   - owner: Of a device: only while it is theirs.
    ///   - writer: For whom: users have a limit.
    /// - Returns: Whether it is subscribed: not when the device is unknown, or somebody else's.
    /// - Throws: ``LimitReached`` when somebody would be subscribed to too many tags.
    func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?,
        by writer: Writer
    ) async throws -> Bool
    /// Ends a subscription, if there is one; that of a device with an `owner` only while it is theirs.
    func unsubscribe(
        _ subscriber: Subscriber,
        from tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?
    ) async throws
    /// Ends these subscriptions, so far as there are such, in one transaction: of a list of any length a bounded part at a time.
    func unsubscribe(_ subscriptions: [Subscription], in network: NetworkID) async throws
    /// Who subscribes to a tag, devices first, each in the order of their ids.
    func subscribers(
        of tag: TagID,
        in network: NetworkID,
        after: Subscriber?,
        limit: Int
    ) async throws -> [Subscriber]
    /// What somebody subscribes to, in the order of the ids; with `selfService` only what users may subscribe to themselves.
    func tags(
        of subscriber: Subscriber,
        in network: NetworkID,
        selfService: Bool,
        after: TagID?,
        limit: Int
    ) async throws -> [TagID]
    /// A part of what the devices of a selection subscribe to by themselves, by tag and device, and how much it is; with a tag, to
    /// that one. As in ``DeviceListStore/devices(_:in:offset:limit:)``; without owner and device it looks at so many of the network's
    /// subscriptions.
    func subscriptions(
        of selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<DeviceSubscription>
    /// Who subscribes to what, in the order of tags and subscribers: all of it, or what `filter` lets through.
    func subscriptions(
        matching filter: SubscriptionFilter,
        in network: NetworkID,
        after: Subscription?,
        limit: Int
    ) async throws -> [Subscription]
    /// The tags that somebody subscribes to, declared or not, in the order of their ids.
    func subscribedTags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [TagID]
}
