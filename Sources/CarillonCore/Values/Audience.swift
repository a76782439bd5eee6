/// Whom something is meant for: what the directory is asked, whatever kind of event asks.
package enum Audience: Sendable, Hashable {
    case nobody
    /// The members of a channel from before the event.
    case members(of: ChannelID)
    /// Those of these users who are members of a channel, be it by the event itself.
    case users([UserID], in: ChannelID)
    /// These users, known or not.
    case people([UserID])
    /// These devices, known or not, be they somebody's or nobody's.
    case devices([DeviceID])
    /// Whoever subscribes to one of these tags.
    case tags([TagID])
    /// All registered devices but those that do not take part.
    case everyone
    /// Whatever is reached there, whether somebody registered it or not.
    case addresses([AddressedDevice])
}

/// A device that is named by where it is reached: nobody needs to have registered it.
package struct AddressedDevice: Sendable, Hashable {
    package var address: DeviceAddress
    /// Its language, for a device that nobody registered.
    package var locale: String?
    /// When its address was obtained, for a device that nobody registered; `nil` where nobody knows.
    package var obtainedAt: Timestamp?

    package init(address: DeviceAddress, locale: String? = nil, obtainedAt: Timestamp? = nil) {
        self.address = address
        self.locale = locale
        self.obtainedAt = obtainedAt
    }
}

/// Which of an audience's devices something goes to; all that is said must hold.
package struct DeviceFilter: Sendable, Equatable {
    /// Only those of these push services; `nil` for all.
    package var providers: Set<ProviderName>?
    /// Only those of these apps; `nil` for all.
    package var appIDs: Set<String>?
    /// Only those that subscribe to this tag, by themselves or by their user.
    package var tag: TagID?

    /// Whether a device at this address passes, as far as the address tells.
    package func admits(_ address: DeviceAddress) -> Bool {
        (providers?.contains(address.provider) ?? true) && (appIDs?.contains(address.appID) ?? true)
    }
}

extension Event {
    /// Whom it concerns, before it is asked who caused it.
    package var audience: Audience {
        if let direct { return direct.audience }
        guard let channel, !isSilent else { return .nobody }
        return type.kind.audience(of: self, in: channel.id)
    }

    func meant(_ people: [Person]) -> [UserID] {
        let listed = people.map(\.id)
        return visibleTo.map { listed.filter($0.contains) } ?? listed
    }
}
