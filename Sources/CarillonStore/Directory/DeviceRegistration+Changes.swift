import CarillonCore

extension DeviceRegistration {
    /// What endpoints are told of it: what lost its token, then what is new or not as it was.
    ///
    /// What came with a notification was never told of, and a token that moves away from it is no news.
    func changes(since former: [FormerDevice]) -> [DirectoryChange] {
        let known = Dictionary(uniqueKeysWithValues: former.filter(\.isOfTheLiving).map { ($0.id, $0) })
        let staying = Set(devices.map(\.id))
        let replaced = former.filter { !staying.contains($0.id) && !$0.id.isOfAddress }.sorted { $0.id < $1.id }
        return replaced.compactMap { row in
            guard let lane = row.lane(in: network) else { return nil }
            let deletion: DeviceChange.Deletion = row.isOfTheLiving ? .replaced : .userDeleted
            return .device(DeviceChange(.deleted(deletion), of: row.id, row.user, in: lane))
        }
            + devices.compactMap { device in
                guard let registration = known[device.id].map({ $0.registration(as: device) }) ?? .new else {
                    return nil
                }
                let lane = Lane(
                    networkID: network,
                    provider: device.address.provider,
                    appID: device.address.appID
                )
                return .device(DeviceChange(.registered(registration), of: device.id, device.userID, in: lane))
            }
    }
}

extension FormerDevice {
    /// What it means that it is registered like this now; `nil` when nothing changes.
    fileprivate func registration(as device: Device) -> DeviceChange.Registration? {
        if user != device.userID { return .moved(from: user) }
        if state != .active { return .returned }
        return isTheSame(as: device) ? nil : .changed
    }

    fileprivate func lane(in network: NetworkID) -> Lane? {
        guard let provider = columns[0].flatMap(ProviderName.init(rawValue:)) else { return nil }
        return Lane(networkID: network, provider: provider, appID: columns[1] ?? "")
    }
}
