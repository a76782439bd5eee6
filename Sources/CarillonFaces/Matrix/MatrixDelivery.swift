import CarillonCore
import CarillonEdge
import HTTPTypes

/// Hands a notification on to devices of one network.
struct MatrixDelivery {
    struct Outcome {
        /// The pushkeys that the homeserver is to forget.
        var rejected: [String] = []
        var firstEvent: EventID?
        /// Why something was not sent, for admins.
        var reason: String?
    }

    /// For how long an admin may mend a credential before homeservers forget the pushkeys that it made unusable.
    private static let patience = Duration.seconds(86_400)
    /// After how long pushkeys may have become old enough to be forgotten for new ones.
    private static let roomMayBeIn = Duration.seconds(3_600)
    private static let unusable = "unusable pushkey"

    let services: Services
    let outcomes: Counters<MatrixOutcome>
    let translation: MatrixTranslation
    let caller: MatrixCaller

    /// Accepts what the devices are to get; returns when it is durable.
    func deliver(to places: [MatrixSelection.Place], of networkID: NetworkID) async throws -> Outcome {
        guard let network = try await services.network(networkID) else {
            throw Problem.matrix(.notFound, "no network here has bound this app id")
        }
        var outcome = Outcome()
        let now = translation.now
        let pushkeys = MatrixPushkey(egress: services.egress)
        var targets = places.compactMap { target($0, pushkeys, of: network, &outcome) }
        try services.rates.take(each: targets.pushClaims(in: networkID))
        let known = try await services.addresses.devices(reachedAt: targets.map(\.address), in: networkID)
        for (position, device) in known.enumerated() { targets[position].known = device }
        try await admitNew(targets, to: network)
        try services.rates.take(each: targets.eventClaims(of: network))
        try await renew(&targets, in: networkID, at: now)
        // Since when pushkeys are unusable is remembered.
        let unusable = targets.filter { !$0.isUsable && $0.known == nil }.map(\.address)
        if !unusable.isEmpty {
            try await services.devices.addQuarantined(unusable, because: Self.unusable, in: networkID)
        }
        let events = try await events(for: targets, of: network, at: now, &outcome)
        let receipts = events.isEmpty ? [] : try await services.accept(events, networkID)
        outcome.firstEvent = receipts.first?.id
        return outcome
    }

    private func target(
        _ place: MatrixSelection.Place,
        _ pushkeys: MatrixPushkey,
        of network: Network,
        _ outcome: inout Outcome
    ) -> MatrixTarget? {
        if place.device.hasBadDefaultPayload { outcomes.count(.badDefaultPayload) }
        switch pushkeys.reading(of: place.device, place.binding, place.provider, hosts: network.webPushHosts) {
        case .address(let address): return MatrixTarget(place: place, address: address, isUsable: true)
        case .unusable(let address):
            outcome.reason = "a pushkey cannot be any device's"
            return MatrixTarget(place: place, address: address, isUsable: false)
        case .blocked:
            outcomes.count(.blocked)
            outcome.reason = "a browser's push service is none of allowedEndpoints, or must not be called"
            return nil
        }
    }

    /// Strangers may make up as many pushkeys as they like, and yet not keep others' out; and nobody may bring more than the network
    /// has room for.
    private func admitNew(_ targets: [MatrixTarget], to network: Network) async throws {
        let new = targets.filter { $0.known == nil }
        guard !new.isEmpty else { return }
        let strange = new.filter { !$0.place.isOfKnownCaller }
        if let address = caller.address, !strange.isEmpty {
            try services.rates.take(strange.count, of: .newFromAddress, at: .matrix, from: address)
        }
        // By the binding and not by the app id: of those that a pattern stands for, callers can make up as many as they like, too.
        for target in strange { try takeNew(of: target.place.boundAs, in: network.id) }
        do {
            try await services.devices.makeRoom(for: new.map(\.address), in: network, ofStrangers: !strange.isEmpty)
        } catch is LimitReached {
            throw Problem.tooManyRequests(retryAfter: Self.roomMayBeIn)
        }
    }

    /// Counts a stranger's new pushkey of a binding. Where many addresses together have used up what there is, those still get some
    /// that ask for little.
    private func takeNew(of name: String, in network: NetworkID) throws(Problem) {
        do {
            try services.rates.take(of: .newOfApp, at: .matrix, about: name, in: network)
        } catch {
            guard let address = caller.address else { throw error }
            try services.rates.take(of: .fewNewFromAddress, at: .matrix, from: address)
            try services.rates.take(of: .fewNewOfApp, at: .matrix, about: name, in: network)
        }
    }

    /// Takes devices back into use whose pushkeys are newer than their death, and notes when pushkeys were obtained.
    private func renew(_ targets: inout [MatrixTarget], in network: NetworkID, at now: Timestamp) async throws {
        var obtained: [DeviceID: Timestamp] = [:]
        for (position, target) in targets.enumerated() where target.isUsable {
            guard let moment = target.renewal(at: now), var known = target.known else { continue }
            known.state = .active
            targets[position].known = known
            obtained[known.id] = max(obtained[known.id] ?? moment, moment)
        }
        if !obtained.isEmpty { try await services.devices.renewDevices(obtained, in: network) }
    }

    private func events(
        for targets: [MatrixTarget],
        of network: Network,
        at now: Timestamp,
        _ outcome: inout Outcome
    ) async throws -> [ParsedEvent] {
        let distrusted = await self.distrusted(targets, in: network.id)
        var wording = MatrixWording(subject: translation.subject, network: network, services: services)
        var events: [ParsedEvent] = []
        for target in targets {
            if isLost(target, distrusted, at: now) {
                outcome.rejected.append(target.place.device.pushkey)
                continue
            }
            let texts = try await wording.texts(for: target.place.binding, locale: target.known?.locale)
            guard let event = target.event(by: translation, texts: texts) else {
                outcomes.count(.empty)
                continue
            }
            outcomes.count(target.isUsable && target.known?.state ?? .active == .active ? .taken : .unused)
            events.append(event)
        }
        return events
    }

    /// Whether a homeserver is to forget a pushkey: by the push service's plain word, or after a day without use.
    private func isLost(_ target: MatrixTarget, _ distrusted: Set<DeviceID>, at now: Timestamp) -> Bool {
        guard let known = target.known, known.state != .active, !distrusted.contains(known.id) else { return false }
        if known.state == .unregistered { return true }
        return now - (known.outOfUseSince ?? known.registeredAt) >= Self.patience
    }

    /// The devices whose push services are not believed when they say that these are gone; asked only where it matters.
    private func distrusted(_ targets: [MatrixTarget], in network: NetworkID) async -> Set<DeviceID> {
        let lost = targets.filter { $0.known.map { $0.state != .active } ?? false }
        guard !lost.isEmpty else { return [] }
        let braked = Set(await services.lanes().filter { $0.brake != nil }.map(\.lane))
        return Set(lost.filter { $0.lane(in: network).map(braked.contains) ?? false }.compactMap { $0.known?.id })
    }
}
