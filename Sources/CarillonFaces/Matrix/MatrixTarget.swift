import CarillonCore
import CarillonEdge

/// A device of a notification, with where it is reached.
struct MatrixTarget: Sendable {
    /// How far a homeserver's clock may be ahead.
    private static let clockTolerance = Duration.seconds(300)

    var place: MatrixSelection.Place
    var address: DeviceAddress
    var isUsable: Bool
    var known: ReachedDevice?

    /// What its pushes are counted by.
    var name: String { DeviceID(reachedAt: address).rawValue }

    func lane(in network: NetworkID) -> Lane? {
        known.map { Lane(networkID: network, provider: $0.provider, appID: $0.appID) }
    }

    /// Its event; `nil` when there is nothing to send to it.
    func event(by translation: MatrixTranslation, texts: DirectTexts?) -> ParsedEvent? {
        let audience = audience(at: translation.now)
        return translation.event(for: place.device, audience, place.binding, place.provider, texts: texts)
    }

    /// Whom an event for it is meant for. When the pushkey of a known one was obtained is noted already.
    private func audience(at now: Timestamp) -> Audience {
        guard isUsable else { return .devices([DeviceID(reachedAt: address)]) }
        let obtained = known == nil ? obtainedAt(now).map { min($0, now) } : nil
        return .addresses([AddressedDevice(address: address, obtainedAt: obtained)])
    }

    /// Since when a known one is in use, where its pushkey is newer than what is known of it.
    func renewal(at now: Timestamp) -> Timestamp? {
        guard let known, let moment = obtainedAt(now) else { return nil }
        let isNewer =
            known.state == .active
            ? known.obtainedAt < min(moment, now) : known.outOfUseSince ?? known.registeredAt < moment
        return isNewer ? moment : nil
    }

    /// When the app got its pushkey. What lies ahead of our clock proves nothing: it would be newer than every death to come.
    private func obtainedAt(_ now: Timestamp) -> Timestamp? {
        place.device.obtainedAt.flatMap { $0 <= now + Self.clockTolerance ? $0 : nil }
    }
}

extension [MatrixTarget] {
    /// A push for each.
    func pushClaims(in network: NetworkID) -> [RequestRates.Claim] {
        map { RequestRates.Claim(of: .pushes, at: .matrix, about: $0.name, in: network) }
    }

    /// What known callers bring, against the network's rate, and what strangers do, against another of the same size, so that these use up
    /// nothing that is the network's own.
    func eventClaims(of network: Network) -> [RequestRates.Claim] {
        guard let rate = network.limits.eventsPerSecond else { return [] }
        let strange = count { !$0.place.isOfKnownCaller }
        let claims = [
            RequestRates.Claim(strange, of: .eventsOfStrangers(network.id), rate: rate),
            RequestRates.Claim(count - strange, of: .events(network.id), rate: rate),
        ]
        return claims.filter { $0.count > 0 }
    }
}
