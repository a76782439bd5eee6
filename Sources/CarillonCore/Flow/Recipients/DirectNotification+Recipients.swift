extension DirectNotification {
    /// The tags of which it has to be known who subscribes to them, to tell whom it is meant for.
    package var tags: Set<TagID> {
        var tags = Set([filter.tag].compactMap(\.self))
        if case .tags(let audience) = audience { tags.formUnion(audience) }
        return tags
    }

    /// Somebody with those of their devices that it is meant for; `nil` when they are none of its audience.
    ///
    /// - Parameters:
    ///   - person: A user, or the one device that nobody owns, with all devices in use.
    ///   - isMember: Whether they are a member of the channel that is its audience.
    ///   - subscribes: Who subscribes to which tag.
    /// - Returns: Them, or `nil`.
    package func share(
        of person: Recipient,
        isMember: Bool,
        subscribes: (Subscriber, TagID) -> Bool
    ) -> Recipient? {
        switch audience {
        case .nobody, .users:
            return nil
        case .members:
            return isMember ? person : nil
        case .people(let users):
            return users.contains(person.userID) ? person : nil
        case .devices(let ids):
            return person.with { ids.contains($0.id) }
        case .addresses(let named):
            return person.with { device in named.contains { $0.isReached(by: device) } }
        case .everyone:
            return person.with(where: \.broadcasts)
        case .tags(let tags):
            if !person.userID.isNobody, tags.contains(where: { subscribes(.user(person.userID), $0) }) { return person }
            return person.with { device in tags.contains { subscribes(.device(device.id), $0) } }
        }
    }

    /// Those of a page's recipients that its filter leaves, each with the devices that it admits. Whoever is meant only as the
    /// owner of a device, or is one, is none without it.
    ///
    /// - Parameters:
    ///   - recipients: Those who are meant.
    ///   - subscribes: Who subscribes to which tag.
    /// - Returns: Those who are left.
    package func filtered(_ recipients: [Recipient], subscribes: (Subscriber, TagID) -> Bool) -> [Recipient] {
        guard filter != DeviceFilter() else { return recipients }
        return recipients.compactMap { person in
            var person = person
            person.devices.removeAll { device in
                guard filter.admits(device.address) else { return true }
                guard let tag = filter.tag else { return false }
                return !subscribes(.device(device.id), tag)
                    && (person.userID.isNobody || !subscribes(.user(person.userID), tag))
            }
            return person.devices.isEmpty && isMeantByDevices(person.userID) ? nil : person
        }
    }

    private func isMeantByDevices(_ user: UserID) -> Bool {
        switch audience {
        case .everyone: true
        case .tags: user.isNobody
        case .addresses, .devices, .members, .nobody, .people, .users: false
        }
    }
}

extension Recipient {
    /// This one with some of their devices; `nil` when it is none of them.
    fileprivate func with(where isMeant: (Device) -> Bool) -> Recipient? {
        var person = self
        person.devices = devices.filter(isMeant)
        return person.devices.isEmpty ? nil : person
    }
}

extension AddressedDevice {
    /// Whether this is the device that is meant. Many may share a URL or standard output: of those it is the one that nobody
    /// registered.
    package func isReached(by device: Device) -> Bool {
        address.provider.kind.isPushService
            ? address.reachesTheSame(as: device.address) : device.id == DeviceID(reachedAt: address)
    }
}

extension DeviceAddress {
    /// Whether both reach the same installation, whatever else is said of it: a token alone decides.
    package func reachesTheSame(as other: DeviceAddress) -> Bool {
        provider == other.provider && (text == other.text || digest == other.digest)
    }
}
