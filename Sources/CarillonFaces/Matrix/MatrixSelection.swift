import CarillonCore
import CarillonEdge
import HTTPTypes

/// Which of a notification's devices are taken, by the bindings of their apps.
struct MatrixSelection {
    /// A device with what is said of its app.
    struct Place: Sendable {
        var device: MatrixNotification.Device
        var binding: MatrixBinding
        /// What the app is bound as, which may be a pattern that stands for many ids.
        var boundAs: String
        var provider: ProviderName
        /// Whether the network knows its caller: by a gateway key, or by where they are.
        var isOfKnownCaller: Bool
    }

    /// What is bound of an app id, as its caller may name it.
    private enum Finding {
        case bound(FaceBinding)
        /// Only for those who have a key.
        case hidden
        case unbound
    }

    /// Of how many app ids that are not bound strangers are told that a key is needed, at the most: each is compared with patterns
    /// of all networks.
    private static let mostHidden = 4

    /// The devices that are taken, by their networks, in the order in which these are named first.
    private(set) var taken: [(network: NetworkID, places: [Place])] = []
    /// The pushkeys that the homeserver is to forget, each once.
    private(set) var rejected: [String] = []
    private(set) var skipped: [MatrixOutcome: Int] = [:]
    /// Whose app is named first.
    private(set) var firstNetwork: NetworkID?

    /// The devices of a notification of which somebody's bindings say that they are taken.
    ///
    /// - Throws: ``PlacementProblem`` where it cannot be known what is bound: a homeserver repeats the notification then.
    init(_ notification: MatrixNotification, _ caller: MatrixCaller, _ lookup: FaceLookup) throws(PlacementProblem) {
        // Each id is looked for once; told apart by its bytes, as it was where it was bound.
        var findings: [Identifier<FaceBinding>: Finding] = [:]
        var unbound = 0
        for device in notification.devices {
            let id = Identifier<FaceBinding>(trusted: device.appID)
            let finding: Finding
            if let found = findings[id] {
                finding = found
            } else {
                finding = try Self.finding(for: device.appID, caller, lookup, after: &unbound)
                findings[id] = finding
            }
            switch finding {
            case .bound(let found):
                if firstNetwork == nil { firstNetwork = found.networkID }
                add(device, found, caller)
            case .hidden: skipped[.withoutKey, default: 0] += 1
            case .unbound: skipped[.unbound, default: 0] += 1
            }
        }
    }

    private static func finding(
        for appID: String,
        _ caller: MatrixCaller,
        _ lookup: FaceLookup,
        after unbound: inout Int
    ) throws(PlacementProblem) -> Finding {
        if let found = try binding(of: appID, caller, lookup) { return .bound(found) }
        guard caller.keyOwner == nil, unbound < mostHidden else { return .unbound }
        unbound += 1
        return lookup.known.isPrivate(.matrix, matching: appID) ? .hidden : .unbound
    }

    /// The binding that a caller means by an app id: with a gateway key the network's own, otherwise one that anybody can name.
    private static func binding(
        of appID: String,
        _ caller: MatrixCaller,
        _ lookup: FaceLookup
    ) throws(PlacementProblem) -> FaceBinding? {
        guard let owner = caller.keyOwner else { return try lookup.binding(.matrix, matching: appID) }
        // Whose key is known, of them all is.
        let open = lookup.known.binding(.matrix, matching: appID)
        let own = lookup.known.binding(.matrix, matching: appID, ownedBy: owner)
        guard let open, open.networkID == owner else { return own }
        guard let own else { return open }
        return open.closeness(to: appID) > own.closeness(to: appID) ? open : own
    }

    private mutating func add(
        _ device: MatrixNotification.Device,
        _ found: FaceBinding,
        _ caller: MatrixCaller
    ) {
        let (binding, network) = (MatrixBinding(stored: found.settings), found.networkID)
        if binding.isKeyRequired, caller.keyOwner != network {
            skipped[.withoutKey, default: 0] += 1
            return
        }
        guard binding.admits(caller.address) else {
            skipped[.fromElsewhere, default: 0] += 1
            return
        }
        guard !binding.isRetired, let provider = binding.provider else {
            reject([device.pushkey])
            return
        }
        let place = Place(
            device: device,
            binding: binding,
            boundAs: found.externalID,
            provider: provider,
            isOfKnownCaller: caller.keyOwner == network || binding.allowedSources != nil
        )
        if let position = taken.firstIndex(where: { $0.network == network }) {
            taken[position].places.append(place)
        } else {
            taken.append((network, [place]))
        }
    }

    mutating func reject(_ pushkeys: [String]) {
        for pushkey in pushkeys where !rejected.contains(pushkey) { rejected.append(pushkey) }
    }

    /// Makes sure that any device is taken or rejected.
    ///
    /// - Throws: ``Problem`` for what keeps all of them out; a homeserver repeats the notification then.
    func requireAny() throws(Problem) {
        guard taken.isEmpty, rejected.isEmpty else { return }
        if skipped[.withoutKey] != nil { throw .matrix(.unauthorized, "a gateway key is needed for this app") }
        if skipped[.fromElsewhere] != nil {
            throw .matrix(.forbidden, "notifications are not taken from there for this app")
        }
        throw .matrix(.notFound, "no network here has bound this app id")
    }

    /// Whether none of what is taken, or not all of it, is of a caller whom its network knows.
    var isOfStranger: Bool { taken.isEmpty || !taken.allSatisfy { $0.places.allSatisfy(\.isOfKnownCaller) } }

    /// What an admin is told of devices that were passed over.
    var reason: String? {
        if skipped[.withoutKey] != nil { return "a gateway key is needed for some of the apps" }
        if skipped[.fromElsewhere] != nil { return "some of the apps are not notified from there" }
        if skipped[.unbound] != nil { return "some of the apps are not bound" }
        return rejected.isEmpty ? nil : "pushkeys are rejected: \(rejected.count)"
    }
}

extension [MatrixSelection.Place] {
    /// A request for each binding that knows its caller.
    func requestClaims(in network: NetworkID) -> [RequestRates.Claim] {
        let known = filter(\.isOfKnownCaller).map { ($0.boundAs, $0.binding.requestsPerSecond) }
        return Dictionary(known) { first, _ in first }.map { name, rate in
            RequestRates.Claim(of: .requests(perSecond: rate), at: .matrix, about: name, in: network)
        }
    }
}
