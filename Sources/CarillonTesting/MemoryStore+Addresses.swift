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
                device.registeredAt = max(device.registeredAt, min(moment, now))
                network.devices[id] = device
            }
            network.tell(restored, at: now, ids: ids)
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
            network.addTransient(missing)
            for id in missing.map({ DeviceID(reachedAt: $0.address) }) {
                network.devices[id]?.state = .quarantined
                network.devices[id]?.error = error
                network.outOfUse[id] = now
            }
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
