package import CarillonCore

extension MemoryStore {
    /// The users whose id or a word of whose name begins with a text, whatever the case; with an empty one all.
    package func users(
        matching text: String,
        in network: NetworkID,
        after place: SearchPlace?,
        limit: Int
    ) async throws -> SearchPage<Person> {
        try withNetwork(network) { network in
            let known = network.users.keys.compactMap { network.knownUser($0)?.person }
            return found(text, among: known.map { ($0, $0.id.rawValue, $0.displayName) }, after: place, limit: limit)
        }
    }

    /// The channels whose id or a word of whose name begins with a text, whatever the case; with an empty one all.
    package func channels(
        matching text: String,
        in network: NetworkID,
        after place: SearchPlace?,
        limit: Int
    ) async throws -> SearchPage<Channel> {
        try withNetwork(network) { network in
            let known = network.channels.keys.compactMap { network.knownChannel($0)?.channel }
            return found(text, among: known.map { ($0, $0.id.rawValue, $0.displayName) }, after: place, limit: limit)
        }
    }
}

private func found<Item: Sendable>(
    _ text: String,
    among all: [(item: Item, id: String, name: String?)],
    after place: SearchPlace?,
    limit: Int
) -> SearchPage<Item> {
    let text = text.folded
    var hits: [(item: Item, place: SearchPlace)] = []
    for (item, id, name) in all {
        if id.folded.utf8.starts(with: text.utf8) {
            hits.append((item, .id(key: id.folded, id: id)))
        } else if let name = name?.folded, name.utf8.starts(with: text.utf8) {
            hits.append((item, .name(key: name.ordered, id: id)))
        } else if let tails = name?.folded.tails.filter({ $0.utf8.starts(with: text.utf8) }),
            let key = tails.map(\.ordered).min(by: { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        {
            hits.append((item, .word(key: key, id: id)))
        }
    }
    hits.sort { $0.place.order.lexicographicallyPrecedes($1.place.order) }
    let rest = hits.filter { hit in place.map { $0.order.lexicographicallyPrecedes(hit.place.order) } ?? true }
    let items = rest.prefix(limit)
    return SearchPage(items: items.map(\.item), next: rest.count > limit ? items.last?.place : nil)
}

extension SearchPlace {
    /// What places are ordered by.
    fileprivate var order: [UInt8] {
        switch self {
        case .id(let key, let id): [0] + key.utf8 + [0] + id.utf8
        case .name(let key, let id): [1] + key.utf8 + [0] + id.utf8
        case .word(let key, let id): [2] + key.utf8 + [0] + id.utf8
        }
    }
}

extension String {
    /// The text as it is looked for.
    fileprivate var folded: String { lowercased().replacing("ς", with: "σ") }

    /// As much of it as tells where it stands in the order.
    fileprivate var ordered: String {
        String(String.UnicodeScalarView(unicodeScalars.prefix(SearchText.orderedCharacters)))
    }

    /// The text from each of its words on, but the first.
    fileprivate var tails: [String] {
        let scalars = unicodeScalars
        return zip(scalars.indices, scalars.indices.dropFirst())
            .filter { before, start in scalars[before].isBetweenWords && !scalars[start].isBetweenWords }
            .prefix(32).map { _, start in String(scalars[start...]) }
    }
}

extension Unicode.Scalar {
    /// White space and punctuation.
    fileprivate var isBetweenWords: Bool {
        switch value {
        case 0x01...0x2F, 0x3A...0x40, 0x5B...0x60, 0x7B...0xA1, 0xAB, 0xB7, 0xBB, 0xBF: true
        case 0x1680, 0x2000...0x206F, 0x3000...0x303F, 0xFF01...0xFF0F: true
        default: false
        }
    }
}
