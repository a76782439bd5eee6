package import CarillonCore

extension MemoryStore: DeviceStore {
    /// Registers a device and adds its user to the directory where they are new; `true` when the device id is new.
    package func putDevice(
        _ device: Device,
        replacing former: ReplaceableDevice,
        in network: NetworkID,
        by writer: Writer
    ) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            if case .only(let known) = former, network.devices[device.id] != known { throw DeviceChanged() }
            return try network.register(device, by: writer, takesOver: former == .anybodys, at: now, ids: ids)
        }
    }

    /// A device; `nil` when unknown.
    package func device(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        try withNetwork(network) { $0.devices[id] }
    }

    /// Those of these devices that there are.
    package func known(among devices: Set<DeviceID>, in network: NetworkID) async throws -> Set<DeviceID> {
        try withNetwork(network) { network in devices.filter { network.devices[$0] != nil } }
    }

    /// Removes a device: with `user` only while it is theirs; `false` when nothing was removed.
    package func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool {
        let now = clock.now()
        return try withNetwork(network) { network in
            guard let device = network.devices[id], user ?? device.userID == device.userID else { return false }
            network.devices[id] = nil
            network.newChanges.append(device.userID)
            network.tell([network.news(.deleted(.deleted), of: device)], at: now, ids: ids)
            return true
        }
    }

    /// Takes devices back into use that were unregistered or quarantined between two moments; answers how many.
    package func restoreDevices(
        _ provider: ProviderName,
        appID: String?,
        since: Timestamp,
        until: Timestamp,
        in network: NetworkID
    ) async throws -> Int {
        let now = clock.now()
        return try withNetwork(network) { network in
            let found = network.devices.values.filter { device in
                guard let moment = network.outOfUse[device.id], since <= moment, moment < until else { return false }
                return device.state != .active && device.address.provider == provider
                    && appID ?? device.address.appID == device.address.appID
            }
            for device in found {
                network.devices[device.id]?.state = .active
                network.devices[device.id]?.error = nil
                network.outOfUse[device.id] = nil
            }
            let restored = found.sorted { $0.id < $1.id }.map { network.news(.registered(.restored), of: $0) }
            network.tell(restored, at: now, ids: ids)
            return found.count
        }
    }

    /// A user's devices in the order of their ids.
    package func devices(of user: UserID, in network: NetworkID, after: DeviceID?, limit: Int) async throws -> [Device]
    {
        try withNetwork(network) { network in
            let rest = network.devices.values.filter { device in
                device.userID == user && (after.map { $0 < device.id } ?? true)
            }
            return Array(rest.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// The devices of some push services that somebody registered, in the order of their ids: all, or those of one user.
    package func registeredDevices(
        through providers: Set<ProviderName>,
        of user: UserID?,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device] {
        try withNetwork(network) { network in
            let found = network.devices.values.filter { device in
                providers.contains(device.address.provider) && user ?? device.userID == device.userID
                    && (after.map { $0 < device.id } ?? true) && !network.transientDevices.contains(device.id)
            }
            return Array(found.sorted { $0.id < $1.id }.prefix(limit))
        }
    }

    /// Whether any browser is known that takes Web Push.
    package func hasBrowsers(in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            network.devices.values.contains { device in
                device.address.provider == .webpush
                    && (!network.transientDevices.contains(device.id) || device.state == .active)
            }
        }
    }

    /// A part of the devices of a selection in the order of their ids, and how many there are.
    package func devices(
        _ selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<Device> {
        try withNetwork(network) { network in
            CountedPage(of: network.devices(selection), offset: offset, limit: limit)
        }
    }

    /// Has a device take part in what is sent to everyone, or not; `false` when there is none.
    package func setBroadcasts(
        _ takesPart: Bool,
        of id: DeviceID,
        ifOwnedBy owner: UserID?,
        in network: NetworkID
    ) async throws -> Bool {
        try withNetwork(network) { network in
            guard let device = network.devices[id], owner ?? device.userID == device.userID else { return false }
            network.devices[id]?.broadcasts = takesPart
            return true
        }
    }
}

extension MemoryNetwork {
    /// The devices of a selection in the order of their ids.
    func devices(_ selection: DeviceSelection) -> [Device] {
        devices.values.filter { device in
            selection.apps.contains(DeviceSelection.App(device.address.provider, device.address.appID))
                && !transientDevices.contains(device.id)
                && selection.device ?? device.id == device.id && selection.owner ?? device.userID == device.userID
                && selection.broadcasts ?? device.broadcasts == device.broadcasts
                && (selection.tag.map { isSubscribed(.device(device.id), to: $0) } ?? true)
        }.sorted { $0.id < $1.id }
    }
}

extension MemoryNetwork {
    /// Refuses what a user may not register, and makes room for the rest among what is unregistered.
    fileprivate mutating func checkRegistration(of device: Device, takesOver: Bool) throws {
        let former = devices[device.id]
        if !takesOver, let former, former.userID != device.userID, former.state == .active,
            !former.address.reachesOnlyTheSame(as: device.address)
        {
            throw DeviceTaken()
        }
        let replaced = devices.values.filter { $0.id == device.id || $0.address.reachesOnlyTheSame(as: device.address) }
        guard !device.userID.isNobody else {
            guard replaced.isEmpty else { return }
            return try makeRoom(
                for: 1,
                upTo: network.limits[.ownerlessDevices],
                unseenSince: Timestamp(milliseconds: .max),
                unreachedSince: Timestamp(milliseconds: .max)
            )
        }
        let others = devices.values.filter { other in
            other.userID == device.userID && !replaced.contains { $0.id == other.id }
        }
        let isCounted = replaced.contains { $0.userID == device.userID && $0.state != .unregistered }
        let limit = network.limits[.devicesPerUser]
        let unregistered = others.filter { $0.state == .unregistered }
            .sorted { (outOfUse[$0.id] ?? .epoch, $0.id) < (outOfUse[$1.id] ?? .epoch, $1.id) }
        guard isCounted || others.count - unregistered.count < limit else { throw LimitReached(.devicesPerUser, limit) }
        for other in unregistered.prefix(max(0, others.count + 1 - limit)) { devices[other.id] = nil }
    }

    /// Registers a device; its token leaves the device that had it. `true` when the device id is new.
    mutating func put(_ device: Device, at now: Timestamp) throws -> Bool {
        let formerHosts = webhookHosts
        if !device.userID.isNobody { mention(device.userID) }
        var former = devices[device.id].map { [$0] } ?? []
        let isNew = former.isEmpty
        let isTheSame = device.secretHash != nil && former.first?.secretHash == device.secretHash
        if former.first?.userID != device.userID, !isTheSame { deviceMarks[device.id] = nextMark() }
        for other in devices.values where other.id != device.id && other.address.reachesOnlyTheSame(as: device.address)
        {
            devices[other.id] = nil
            former.append(other)
        }
        devices[device.id] = device
        transientDevices.remove(device.id)
        outOfUse[device.id] = device.state == .active ? nil : now
        let hosts = webhookHosts
        let limit = network.limits[.webhookHosts]
        guard hosts.count <= limit || hosts.isSubset(of: formerHosts) else { throw LimitReached(.webhookHosts, limit) }
        newChanges += Set(former.map(\.userID)).subtracting([device.userID]).sorted()
        return isNew
    }
}

extension MemoryNetwork {
    /// Registers a device, and tells who asks for it; `true` when the device id is new.
    mutating func register(
        _ device: Device,
        by writer: Writer = .admin,
        takesOver: Bool = false,
        at now: Timestamp,
        ids: UUIDv7Generator
    ) throws -> Bool {
        let former = endpoints.isEmpty ? [:] : devices
        if writer == .user { try checkRegistration(of: device, takesOver: takesOver) }
        let isNew = try put(device, at: now)
        if !endpoints.isEmpty { tell(news(of: device, since: former), at: now, ids: ids) }
        return isNew
    }

    /// What happened to a device.
    func news(_ happening: DeviceNews.Happening, of device: Device) -> DirectoryNews {
        .device(DeviceNews(happening, of: device.id, device.userID, in: Lane(networkID: network.id, device)))
    }

    /// What a registration changed; registered again as it is, a device is no news.
    fileprivate func news(of device: Device, since former: [DeviceID: Device]) -> [DirectoryNews] {
        let gone = former.values.filter { devices[$0.id] == nil && !$0.id.isOfAddress }.sorted { $0.id < $1.id }
        let deleted = gone.map { other in
            let isReplaced = other.address.reachesOnlyTheSame(as: device.address)
            return news(.deleted(isReplaced ? .replaced : .displaced), of: other)
        }
        let registration: DeviceNews.Registration?
        switch former[device.id] {
        case nil: registration = .new
        case let known? where known.userID != device.userID: registration = .moved(from: known.userID)
        case let known? where known.state != .active: registration = .returned
        case let known?: registration = known.address == device.address ? nil : .changed
        }
        return deleted + (registration.map { [news(.registered($0), of: device)] } ?? [])
    }

    private var webhookHosts: Set<String> {
        Set(devices.values.filter { $0.address.provider == .webhook }.map(\.address.appID))
    }
}

extension DeviceAddress {
    /// Whether both are the same token, of which there is one device; URLs and standard output may be shared.
    fileprivate func reachesOnlyTheSame(as other: DeviceAddress) -> Bool {
        provider != .webhook && provider != .log && reachesTheSame(as: other)
    }
}
