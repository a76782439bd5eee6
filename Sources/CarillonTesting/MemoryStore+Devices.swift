package import CarillonCore

extension MemoryStore: DeviceStore {
    /// Registers a device and adds its user to the directory where they are new; `true` when the device id is new.
    package func putDevice(_ device: Device, in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { $0.put(device) }
    }

    /// A device; `nil` when unknown.
    package func device(_ id: DeviceID, in network: NetworkID) async throws -> Device? {
        try withNetwork(network) { $0.devices[id] }
    }

    /// Removes a device: with `user` only while it is theirs; `false` when nothing was removed.
    package func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool {
        try withNetwork(network) { network in
            guard let device = network.devices[id], user ?? device.userID == device.userID else { return false }
            network.devices[id] = nil
            network.newChanges.append(device.userID)
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
        try withNetwork(network) { network in
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
}

extension MemoryNetwork {
    /// Registers a device; its token leaves the device that had it. `true` when the device id is new.
    mutating func put(_ device: Device) -> Bool {
        mention(device.userID)
        var former = devices[device.id].map { [$0] } ?? []
        let isNew = former.isEmpty
        for other in devices.values where other.id != device.id && other.address.isSameToken(as: device.address) {
            devices[other.id] = nil
            former.append(other)
        }
        devices[device.id] = device
        outOfUse[device.id] = nil
        newChanges += Set(former.map(\.userID)).subtracting([device.userID]).sorted()
        return isNew
    }
}

extension DeviceAddress {
    /// Whether both have the same token, whatever else is said of it.
    fileprivate func isSameToken(as other: DeviceAddress) -> Bool {
        switch (self, other) {
        case (.apns(let token, _, _), .apns(let otherToken, _, _)): token.lowercased() == otherToken.lowercased()
        case (.fcm(let token, _), .fcm(let otherToken, _)): token == otherToken
        case (.webpush(let endpoint, _, _), .webpush(let otherEndpoint, _, _)): endpoint == otherEndpoint
        default: false
        }
    }
}
