/// The devices of a network (API section 6).
package protocol DeviceStore: Sendable {
    /// Registers a device and adds its user to the directory where they are new; `true` when the device id is new.
    ///
    /// The last write wins: the device leaves its former user, and its token leaves the device that had it.
    func putDevice(_ device: Device, in network: NetworkID) async throws -> Bool
    /// A device; `nil` when unknown.
    func device(_ id: DeviceID, in network: NetworkID) async throws -> Device?
    /// Removes a device: with `user` only while it is theirs; `false` when nothing was removed.
    func deleteDevice(_ id: DeviceID, ifOwnedBy user: UserID?, in network: NetworkID) async throws -> Bool
    /// Takes devices of an app, or of all apps without `appID`, back into use that were unregistered or quarantined at
    /// `since` or later and before `until`; answers how many: none when the two are the wrong way round.
    func restoreDevices(
        _ provider: ProviderName,
        appID: String?,
        since: Timestamp,
        until: Timestamp,
        in network: NetworkID
    ) async throws -> Int
    /// A user's devices in the order of their ids.
    func devices(of user: UserID, in network: NetworkID, after: DeviceID?, limit: Int) async throws -> [Device]
}
