extension Placed: DirectoryStore where Port == any DirectoryStore {
    package func putUser(_ person: Person, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).putUser(person, in: network)
    }

    package func user(_ id: UserID, in network: NetworkID) async throws -> Person? {
        try await of(network).user(id, in: network)
    }

    package func deleteUser(_ id: UserID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteUser(id, in: network)
    }

    package func users(matching text: String, in network: NetworkID, after place: SearchPlace?, limit: Int) async throws
        -> SearchPage<Person>
    {
        try await of(network).users(matching: text, in: network, after: place, limit: limit)
    }

    package func putChannel(_ channel: Channel, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).putChannel(channel, in: network)
    }

    package func channel(_ id: ChannelID, in network: NetworkID) async throws -> Channel? {
        try await of(network).channel(id, in: network)
    }

    package func deleteChannel(_ id: ChannelID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteChannel(id, in: network)
    }

    package func channels(matching text: String, in network: NetworkID, after place: SearchPlace?, limit: Int)
        async throws -> SearchPage<Channel>
    {
        try await of(network).channels(matching: text, in: network, after: place, limit: limit)
    }

    package func members(of channel: ChannelID, in network: NetworkID, after: UserID?, limit: Int) async throws
        -> [UserID]?
    {
        try await of(network).members(of: channel, in: network, after: after, limit: limit)
    }

    package func replaceMembers(of channel: ChannelID, with users: [UserID], in network: NetworkID) async throws {
        try await toWrite(network).replaceMembers(of: channel, with: users, in: network)
    }

    package func addMember(_ user: UserID, to channel: ChannelID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).addMember(user, to: channel, in: network)
    }

    package func removeMember(_ user: UserID, from channel: ChannelID, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).removeMember(user, from: channel, in: network)
    }

    package func apply(_ next: @escaping @Sendable () throws -> [ImportRecord]?, in network: NetworkID) async throws {
        try await toWrite(network).apply(next, in: network)
    }
}

extension Placed: DeviceStore where Port == any DeviceStore {
    package func putDevice(
        _ device: Device,
        replacing former: ReplaceableDevice,
        in network: NetworkID,
        by writer: Writer
    ) async throws -> Bool {
        try await toWrite(network).putDevice(device, replacing: former, in: network, by: writer)
    }

    package func device(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        try await of(network).device(id, in: network)
    }

    package func known(among devices: Set<DeviceID>, in network: NetworkID) async throws -> Set<DeviceID> {
        try await of(network).known(among: devices, in: network)
    }

    package func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool {
        try await toWrite(network).deleteDevice(id, ifOwnedBy: user, in: network)
    }

    package func restoreDevices(
        _ provider: ProviderName,
        appID: String?,
        since: Timestamp,
        until: Timestamp,
        in network: NetworkID
    ) async throws -> Int {
        try await toWrite(network).restoreDevices(provider, appID: appID, since: since, until: until, in: network)
    }

    package func devices(reachedAt places: [AddressPlace]) async throws -> [ReachedDevice?] {
        let (answers, failure) = await parts(places.enumerated(), by: \.element.networkID) { store, places in
            zip(places.map(\.offset), try await store.devices(reachedAt: places.map(\.element))).map { ($0, $1) }
        }
        if let failure { throw failure }
        var devices = [ReachedDevice?](repeating: nil, count: places.count)
        for (offset, device) in answers.joined() { devices[offset] = device }
        return devices
    }
    package func renewDevices(_ obtained: [DeviceID: Timestamp], in network: NetworkID) async throws {
        try await toWrite(network).renewDevices(obtained, in: network)
    }

    package func addQuarantined(_ addresses: [DeviceAddress], because error: String, in network: NetworkID) async throws
    {
        try await toWrite(network).addQuarantined(addresses, because: error, in: network)
    }

    package func makeRoom(for addresses: [DeviceAddress], in network: Network, ofStrangers: Bool) async throws {
        try await toWrite(network.id).makeRoom(for: addresses, in: network, ofStrangers: ofStrangers)
    }

    package func devices(of user: UserID, in network: NetworkID, after: DeviceID?, limit: Int) async throws -> [Device]
    {
        try await of(network).devices(of: user, in: network, after: after, limit: limit)
    }

    package func devices(_ selection: DeviceSelection, in network: NetworkID, offset: Int, limit: Int) async throws
        -> CountedPage<Device>
    {
        try await of(network).devices(selection, in: network, offset: offset, limit: limit)
    }

    package func setBroadcasts(_ takesPart: Bool, of id: DeviceID, ifOwnedBy owner: UserID?, in network: NetworkID)
        async throws -> Bool
    {
        try await toWrite(network).setBroadcasts(takesPart, of: id, ifOwnedBy: owner, in: network)
    }

    package func registeredDevices(
        through providers: Set<ProviderName>,
        of user: UserID?,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device] {
        try await of(network).registeredDevices(through: providers, of: user, in: network, after: after, limit: limit)
    }

    package func hasBrowsers(in network: NetworkID) async throws -> Bool {
        try await of(network).hasBrowsers(in: network)
    }
}

extension Placed: TagStore where Port == any TagStore {
    package func putTag(_ tag: Tag, in network: NetworkID) async throws -> (tag: Tag, isNew: Bool) {
        try await toWrite(network).putTag(tag, in: network)
    }

    package func tag(_ id: TagID, in network: NetworkID) async throws -> Tag? {
        try await of(network).tag(id, in: network)
    }

    package func tags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [Tag] {
        try await of(network).tags(in: network, after: after, limit: limit)
    }

    package func deleteTag(_ id: TagID, in network: NetworkID) async throws {
        try await toWrite(network).deleteTag(id, in: network)
    }

    package func subscribe(
        _ subscriber: Subscriber,
        to tag: TagID,
        in network: NetworkID,
        ifOwnedBy owner: UserID?,
        by writer: Writer
    ) async throws -> Bool {
        try await toWrite(network).subscribe(subscriber, to: tag, in: network, ifOwnedBy: owner, by: writer)
    }

    package func unsubscribe(_ subscriber: Subscriber, from tag: TagID, in network: NetworkID, ifOwnedBy owner: UserID?)
        async throws
    {
        try await toWrite(network).unsubscribe(subscriber, from: tag, in: network, ifOwnedBy: owner)
    }

    package func unsubscribe(_ subscriptions: [Subscription], in network: NetworkID) async throws {
        try await toWrite(network).unsubscribe(subscriptions, in: network)
    }

    package func subscribers(of tag: TagID, in network: NetworkID, after: Subscriber?, limit: Int) async throws
        -> [Subscriber]
    {
        try await toWrite(network).subscribers(of: tag, in: network, after: after, limit: limit)
    }

    package func tags(of subscriber: Subscriber, in network: NetworkID, selfService: Bool, after: TagID?, limit: Int)
        async throws -> [TagID]
    {
        try await of(network).tags(of: subscriber, in: network, selfService: selfService, after: after, limit: limit)
    }

    package func subscriptions(of selection: DeviceSelection, in network: NetworkID, offset: Int, limit: Int)
        async throws -> CountedPage<DeviceSubscription>
    {
        try await of(network).subscriptions(of: selection, in: network, offset: offset, limit: limit)
    }

    package func subscriptions(
        matching filter: SubscriptionFilter,
        in network: NetworkID,
        after: Subscription?,
        limit: Int
    ) async throws -> [Subscription] {
        try await of(network).subscriptions(matching: filter, in: network, after: after, limit: limit)
    }

    package func subscribedTags(in network: NetworkID, after: TagID?, limit: Int) async throws -> [TagID] {
        try await toWrite(network).subscribedTags(in: network, after: after, limit: limit)
    }
}
