import CarillonCore

/// Where rows of a queue may be due that nobody has in hand: in which networks, and since when the first of them.
///
/// A lane that was passed over because it was full has a line of its own. Its rows may have been due for long; those of the other
/// lanes have not, and are not looked for among all that has died since.
struct DueIndex: Sendable {
    /// One network without the lanes that have lines of their own, or one of these lanes.
    struct Entry: Sendable, Equatable {
        var network: NetworkID
        var lane: Lane?
        var since: Timestamp
    }

    private var networks: [NetworkID: Timestamp] = [:]
    private var lanes: [Lane: Timestamp] = [:]

    /// The lanes that have lines of their own.
    var lanesApart: [Lane] { Array(lanes.keys) }

    mutating func add(_ entry: Entry) {
        if let lane = entry.lane {
            lanes[lane] = min(lanes[lane] ?? entry.since, entry.since)
        } else {
            networks[entry.network] = min(networks[entry.network] ?? entry.since, entry.since)
        }
    }

    /// The entries of the next networks behind one, without those that are full.
    func next(_ limit: Int, after last: NetworkID?, excluding full: ClaimExclusions = ClaimExclusions()) -> [Entry] {
        let (fullNetworks, fullLanes) = (Set(full.networks), Set(full.lanes))
        let lanes = Dictionary(grouping: lanes.filter { !fullLanes.contains($0.key) }, by: \.key.networkID)
        let names = Set(networks.keys).union(lanes.keys).subtracting(fullNetworks).sorted()
        let start = last.map { last in names.firstIndex { last < $0 } ?? 0 } ?? 0
        let entries = (names[start...] + names[..<start]).prefix(limit).flatMap { name in
            let own = lanes[name, default: []].map { Entry(network: name, lane: $0.key, since: $0.value) }
            return own + [networks[name].map { Entry(network: name, since: $0) }].compactMap(\.self)
        }
        return Array(entries.prefix(limit))
    }

    /// An entry has been walked through: since `first` something may still be due there, or nothing any more. The full lanes of a
    /// network were passed over.
    mutating func walked(_ entry: Entry, leaving first: Timestamp?, passing full: [Lane] = []) {
        if let lane = entry.lane {
            Self.update(&lanes[lane], entry, first)
        } else {
            Self.update(&networks[entry.network], entry, first)
            for lane in full where lane.networkID == entry.network {
                add(Entry(network: entry.network, lane: lane, since: entry.since))
            }
        }
    }

    /// What was found meanwhile that is older stays.
    private static func update(_ since: inout Timestamp?, _ entry: Entry, _ first: Timestamp?) {
        if let found = since, found < entry.since { return }
        since = first
    }
}
