import CarillonCore

/// Where rows of a queue may be due that nobody has in hand: in which networks, and since when the first of them.
///
/// A lane that was passed over because it was full has a line of its own. Its rows may have been due for long; those of the other
/// lanes have not, and are not looked for among all that has died since.
struct DuePlaces: Sendable {
    /// One network without the lanes that have lines of their own, or one of these lanes.
    struct Place: Sendable, Equatable {
        var network: NetworkID
        var lane: Lane?
        var since: Timestamp
    }

    private var networks: [NetworkID: Timestamp] = [:]
    private var lanes: [Lane: Timestamp] = [:]

    /// The lanes that have lines of their own.
    var lanesApart: [Lane] { Array(lanes.keys) }

    mutating func add(_ place: Place) {
        if let lane = place.lane {
            lanes[lane] = min(lanes[lane] ?? place.since, place.since)
        } else {
            networks[place.network] = min(networks[place.network] ?? place.since, place.since)
        }
    }

    /// The places of the next networks behind one, without those that are full.
    func next(_ limit: Int, after last: NetworkID?, excluding full: ClaimExclusions = ClaimExclusions()) -> [Place] {
        let (fullNetworks, fullLanes) = (Set(full.networks), Set(full.lanes))
        let lanes = Dictionary(grouping: lanes.filter { !fullLanes.contains($0.key) }, by: \.key.networkID)
        let names = Set(networks.keys).union(lanes.keys).subtracting(fullNetworks).sorted()
        let start = last.map { last in names.firstIndex { last < $0 } ?? 0 } ?? 0
        let places = (names[start...] + names[..<start]).prefix(limit).flatMap { name in
            let own = lanes[name, default: []].map { Place(network: name, lane: $0.key, since: $0.value) }
            return own + [networks[name].map { Place(network: name, since: $0) }].compactMap(\.self)
        }
        return Array(places.prefix(limit))
    }

    /// A place has been walked through: since `first` something may still be due there, or nothing any more. The full lanes of a
    /// network were passed over.
    mutating func walked(_ place: Place, leaving first: Timestamp?, passing full: [Lane] = []) {
        if let lane = place.lane {
            Self.update(&lanes[lane], place, first)
        } else {
            Self.update(&networks[place.network], place, first)
            for lane in full where lane.networkID == place.network {
                add(Place(network: place.network, lane: lane, since: place.since))
            }
        }
    }

    /// What was found meanwhile that is older stays.
    private static func update(_ since: inout Timestamp?, _ place: Place, _ first: Timestamp?) {
        if let found = since, found < place.since { return }
        since = first
    }
}
