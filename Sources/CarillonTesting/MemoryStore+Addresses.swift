package import CarillonCore

extension MemoryStore {
    /// What is reached at these addresses, in their order.
    package func devices(reachedAt places: [AddressPlace]) async throws -> [ReachedDevice?] {
        try places.map { place in
            try withNetwork(place.networkID) { network in
                let named = AddressedDevice(address: place.address)
                guard place.address.isUnique,
                    let device = network.devices.values.first(where: { named.isReached(by: $0) })
                else { return nil }
                return ReachedDevice(
                    id: device.id,
                    provider: device.address.provider,
                    appID: device.address.appID,
                    locale: device.locale,
                    state: device.state,
                    outOfUseSince: network.outOfUse[device.id],
                    registeredAt: device.registeredAt,
                    obtainedAt: network.obtainedAt(device),
                    isTransient: network.transientDevices.contains(device.id)
                )
            }
        }
    }

    /// Notes when devices' addresses were obtained: those that were put out of use before are used again.
    package func renewDevices(_ obtained: [DeviceID: Timestamp], in network: NetworkID) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            var restored: [DirectoryNews] = []
            for (id, moment) in obtained.sorted(by: { $0.key < $1.key }) {
                guard var device = network.devices[id] else { continue }
                if device.state != .active {
                    guard let since = network.outOfUse[id], since < moment else { continue }
                    (device.state, device.error) = (.active, nil)
                    network.outOfUse[id] = nil
                    restored.append(network.news(.registered(.restored), of: device))
                }
                let obtained = max(network.obtainedAt(device), min(moment, now))
                device.registeredAt = max(device.registeredAt, obtained)
                device.obtainedAt = obtained
                network.devices[id] = device
            }
            network.tell(restored, at: now, ids: ids)
        }
    }

    /// Makes room for devices that nobody registered and that are not known yet.
    package func makeRoom(for addresses: [DeviceAddress], in network: Network, ofStrangers: Bool) async throws {
        let now = clock.now()
        try withNetwork(network.id) { state in
            try state.makeRoom(
                for: addresses.count,
                upTo: network.limits[.ownerlessDevices],
                unseenSince: now - OwnerlessRoom.age,
                unreachedSince: now - OwnerlessRoom.patience(withStrangers: ofStrangers)
            )
        }
    }

    /// Adds what nobody registered and nothing can be sent to.
    package func addQuarantined(
        _ addresses: [DeviceAddress],
        because error: String,
        in network: NetworkID
    ) async throws {
        let now = clock.now()
        try withNetwork(network) { network in
            let named = addresses.map { AddressedDevice(address: $0) }
            let missing = named.filter { one in !network.devices.values.contains(where: one.isReached) }
            network.addTransient(missing, at: now)
            for id in missing.map({ DeviceID(reachedAt: $0.address) }) {
                network.devices[id]?.state = .quarantined
                network.devices[id]?.error = error
                network.outOfUse[id] = now
            }
        }
    }
}

extension MemoryNetwork {
    /// Forgets the longest unseen of what came with a notification, and then what was never reached, where there would be too many
    /// of nobody's devices.
    mutating func makeRoom(
        for new: Int,
        upTo limit: Int,
        unseenSince moment: Timestamp,
        unreachedSince latest: Timestamp
    ) throws {
        let transient = devices.values.filter { transientDevices.contains($0.id) }
        let registered = devices.values.count {
            $0.userID.isNobody && $0.state != .unregistered && !transientDevices.contains($0.id)
        }
        let missing = min(limit, transient.count + registered) + new - limit
        guard missing > 0 else { return }
        let unseen = transient.filter { device in
            let isUnreached = device.state == .quarantined || device.error == "not delivered to yet"
            return device.registeredAt <= moment || isUnreached && device.registeredAt <= latest
        }.sorted { $0.registeredAt < $1.registeredAt }
        guard unseen.count >= missing else { throw LimitReached(.ownerlessDevices, limit) }
        for device in unseen.prefix(missing) {
            devices[device.id] = nil
            transientDevices.remove(device.id)
            outOfUse[device.id] = nil
        }
    }
}

extension DeviceAddress {
    /// Whether only one device can have it.
    fileprivate var isUnique: Bool { provider != .webhook && provider != .log }
}

extension MemoryStore {
    /// Writes down what a provider said of a device, as if it had just said so.
    package func report(_ state: DeviceState, of device: DeviceID, in network: NetworkID) throws {
        let now = clock.now()
        try withNetwork(network) { network in
            network.devices[device]?.state = state
            network.devices[device]?.error = "reported"
            network.outOfUse[device] = now
        }
    }
}
