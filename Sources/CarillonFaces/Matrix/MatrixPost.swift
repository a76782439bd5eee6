import CarillonCore
import CarillonEdge

/// A notification that its event loop takes: of devices of one network, all of which may be notified by its sender.
struct MatrixPost: FacePost {
    /// The most bytes of a body that is read on an event loop: senders need not prove anything.
    static let maximumBytes = 8 << 10
    /// The most devices: those of homeservers have one.
    static let maximumDevices = 8

    private let services: Services
    private let outcomes: Counters<MatrixOutcome>
    private let network: Network
    private let notification: MatrixNotification
    private let targets: [MatrixTarget]
    /// What it was counted for.
    private let claims: [RequestRates.Claim]

    /// Reads a post, and counts it; `nil`, without having counted it, for whatever is unusual or not right.
    init?(_ unread: UnreadPost, _ services: Services, _ outcomes: Counters<MatrixOutcome>) {
        guard let lookup = services.rememberedFaces(), let key = Self.key(in: unread.target) else { return nil }
        let owner = key.isEmpty ? nil : try? lookup.key(.matrix, secret: String(key))?.key.networkID
        guard key.isEmpty || owner != nil else { return nil }
        // Nobody's is read who asks for too much.
        let request = RequestRates.Claim(of: .requests, at: .matrix, from: unread.client)
        guard services.rates.take(all: [request]) else { return nil }
        let caller = MatrixCaller(keyOwner: owner, address: unread.client)
        guard let post = Self.read(unread.body, from: caller, lookup, services), services.rates.take(all: post.claims)
        else {
            services.rates.giveBack(all: [request])
            return nil
        }
        if !post.isOfStranger { services.rates.giveBack(all: [request]) }
        self.services = services
        self.outcomes = outcomes
        claims = post.claims + (post.isOfStranger ? [request] : [])
        (network, notification, targets) = (post.network, post.notification, post.targets)
    }

    var networkID: NetworkID { network.id }
    var size: Int { targets.count }
    var route: String { MatrixFace.notifyPath }
    var operation: String { MatrixFace.notifyOperation }
    var answer: JSONValue { ["rejected": []] }
    var addresses: [DeviceAddress] { targets.map(\.address) }

    func noteAccepted() { outcomes.count(.taken, by: targets.count) }

    func giveBack() { services.rates.giveBack(all: claims) }

    /// Its events; `nil` where one of its devices, as they are known, is new or not in use, or nothing would be sent to it.
    func events(knowing devices: some Sequence<ReachedDevice?>) async throws -> [ParsedEvent]? {
        let now = services.clock.now()
        let translation = MatrixTranslation(notification: notification, now: now)
        var wording = MatrixWording(subject: translation.subject, network: network, services: services)
        var events: [ParsedEvent] = []
        for (var target, known) in zip(targets, devices) {
            target.known = known
            guard let known, known.state == .active, target.renewal(at: now) == nil else { return nil }
            let texts = try await wording.texts(for: target.place.binding, locale: known.locale)
            guard let event = target.event(by: translation, texts: texts) else { return nil }
            events.append(event)
        }
        return events
    }

    /// The gateway key in a target, empty where there is none; `nil` where something has to be decoded, or else is there.
    private static func key(in target: String) -> Substring? {
        let rest = target.dropFirst(MatrixFace.notifyPath.count)
        if rest.isEmpty { return rest }
        let key = rest.dropFirst(keyParameter.count)
        return rest.hasPrefix(keyParameter) && key.utf8.allSatisfy(\.isUnreserved) ? key : nil
    }

    private static let keyParameter = "?k="

    private typealias Reading = (
        network: Network, notification: MatrixNotification, targets: [MatrixTarget], claims: [RequestRates.Claim],
        isOfStranger: Bool
    )

    private static func read(
        _ body: [UInt8],
        from caller: MatrixCaller,
        _ lookup: FaceLookup,
        _ services: Services
    ) -> Reading? {
        guard let notification = try? MatrixNotification(body: body), notification.devices.count <= maximumDevices,
            let selection = try? MatrixSelection(notification, caller, lookup), selection.skipped.isEmpty,
            selection.rejected.isEmpty, let (id, places) = selection.taken.first, selection.taken.count == 1,
            let network = services.authenticator.rememberedSenders(of: id)?.network
        else { return nil }
        let pushkeys = MatrixPushkey(egress: services.egress)
        var targets: [MatrixTarget] = []
        for place in places {
            let reading = pushkeys.reading(of: place.device, place.binding, place.provider, hosts: network.webPushHosts)
            guard !place.device.hasBadDefaultPayload, case .address(let address) = reading else { return nil }
            targets.append(MatrixTarget(place: place, address: address, isUsable: true))
        }
        let claims = places.requestClaims(in: id) + targets.pushClaims(in: id) + targets.eventClaims(of: network)
        return (network, notification, targets, claims, selection.isOfStranger)
    }
}
