/// The devices of a network (API section 6).
package protocol DeviceStore: Sendable {
    /// Registers a device and adds its user to the directory where they are new.
    ///
    /// The last write wins: the device leaves its former user, and its token leaves the device that had it. Of users'
    /// writes those that could not come from the same phone are refused. What a user has beyond the limit is made room for
    /// among what is unregistered, the longest first.
    ///
    /// - Parameters:
    ///   - device: The device.
    ///   - former: What of what is registered under its id it may replace.
    ///   - network: The network.
    ///   - writer: For whom.
    /// - Returns: Whether the device id is new.
    /// - Throws: ``DeviceTaken`` when a user writes what another one has in use, at another address; ``DeviceChanged`` when what
    ///   is registered is not what was read; ``LimitReached`` when a user would have too many devices in use, or the network's
    ///   webhooks, whoever writes, would name too many servers. Nothing is changed then.
    func putDevice(
        _ device: Device,
        replacing former: ReplaceableDevice,
        in network: NetworkID,
        by writer: Writer
    ) async throws -> Bool
    func device(_ id: DeviceID, in network: NetworkID) async throws -> Device?
    func known(among devices: Set<DeviceID>, in network: NetworkID) async throws -> Set<DeviceID>
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
    /// Whether any browser is known that takes Web Push: one that somebody registered, whatever became of it, or one in use that came
    /// with a notification.
    func hasBrowsers(in network: NetworkID) async throws -> Bool
}

/// The devices of a network by where they are reached, for those who know nothing else of them.
package protocol AddressStore: Sendable {
    /// What is reached at these addresses of one placement, in their order; `nil` where nobody knows anything, and for addresses
    /// that many devices may share.
    func devices(reachedAt keys: [AddressKey]) async throws -> [ReachedDevice?]
    /// Notes that their addresses were obtained at these moments: devices that were put out of use before are used again, and
    /// what a provider says of the time before is ignored.
    func renewDevices(_ obtained: [DeviceID: Timestamp], in network: NetworkID) async throws
    /// Adds what nobody registered and nothing can be sent to, because of an `error`: out of use from the start. What is known
    /// there stays as it is.
    func addQuarantined(_ addresses: [DeviceAddress], because error: String, in network: NetworkID) async throws
    /// Makes room for so many devices that nobody registered and that are not known yet, at these addresses: where the network has
    /// about as many of nobody's as it may have, those go that came with a notification and were not named for a day, the longest
    /// unseen first; and then those to which nothing was ever delivered, for a caller whom the network knows after
    /// ``OwnerlessRoom/knownPatience``, for strangers after ``OwnerlessRoom/strangePatience``.
    ///
    /// - Throws: ``LimitReached`` when there are too few of those; none goes then.
    func makeRoom(for addresses: [DeviceAddress], in network: Network, ofStrangers: Bool) async throws
}

/// Lists of devices as other systems keep them.
package protocol DeviceListStore: Sendable {
    /// A part of the devices of a selection in the order of their ids, and how many there are. For lists that other systems count:
    /// the further a part is, the longer it takes, so that none begins beyond ``CountedPage/maximumTotal``, and a store need not look
    /// at more than twice as many devices of an app, or subscribers of a tag, to find those that are meant.
    func devices(
        _ selection: DeviceSelection,
        in network: NetworkID,
        offset: Int,
        limit: Int
    ) async throws -> CountedPage<Device>
    /// Has a device take part in what is sent to everyone, or not: with `owner` only while it is theirs; `false` when there is none.
    func setBroadcasts(
        _ takesPart: Bool,
        of id: DeviceID,
        ifOwnedBy owner: UserID?,
        in network: NetworkID
    ) async throws -> Bool
    /// The devices of some push services that somebody registered, in the order of their ids: all, or those of one user.
    func registeredDevices(
        through providers: Set<ProviderName>,
        of user: UserID?,
        in network: NetworkID,
        after: DeviceID?,
        limit: Int
    ) async throws -> [Device]
}

extension DeviceStore {
    package func putDevice(_ device: Device, in network: NetworkID, by writer: Writer) async throws -> Bool {
        try await putDevice(device, replacing: .anyOfTheirs, in: network, by: writer)
    }
}

/// What of what is registered under its id a device may replace.
package enum ReplaceableDevice: Sendable, Equatable {
    /// What its user had, and what could come from the same phone; an admin's write anything.
    case anyOfTheirs
    /// Anything: whoever had it in use loses it.
    case anybodys
    /// What was read, `nil` for nothing: who changes what there is must not undo what others have changed since. Otherwise as
    /// with ``anyOfTheirs``, and what was read to be nobody's, which is anybody's to have.
    case only(Device?)
    /// What was read, by whoever proves to be that device, or answers for it: it stays the same one, whoever it is for now and however it is
    /// reached, and keeps what it subscribes to.
    case same(as: Device?)

    /// What has to be there still; `nil` where that is not asked.
    package var expected: Device?? {
        switch self {
        case .anyOfTheirs, .anybodys: nil
        case .only(let known), .same(let known): .some(known)
        }
    }
}

/// A device of this id is not any more what it was when it was read.
package struct DeviceChanged: Error, Sendable, Equatable {
    package init() {}
}

/// A device of this id is another user's, who has it in use at another address.
package struct DeviceTaken: Error, Sendable, Equatable {
    package init() {}
}

/// Which devices that came with a notification make room for new ones, where a network has as many of nobody's as it may have.
///
/// Anybody can make addresses up, but nobody can have something delivered to them: so those of strangers never keep out what a
/// homeserver brings that the network knows.
package enum OwnerlessRoom {
    /// After how long without being named any of them may go.
    package static let age = Duration.seconds(86_400)
    /// After how long one may go to which nothing was ever delivered, for a caller whom the network knows: until then it may be on its
    /// way.
    package static let knownPatience = Duration.seconds(60)
    package static let strangePatience = Duration.seconds(600)

    /// After how long one may go to which nothing was ever delivered.
    package static func patience(withStrangers: Bool) -> Duration { withStrangers ? strangePatience : knownPatience }
}
