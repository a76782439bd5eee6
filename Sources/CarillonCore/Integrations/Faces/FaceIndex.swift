/// Finds bindings and keys without asking the database.
package struct FaceIndex: Sendable {
    private struct Name: Hashable {
        let face: FaceName
        let network: NetworkID?
        /// Compared by its bytes, as it was where it was bound.
        let text: Identifier<FaceBinding>

        init(face: FaceName, network: NetworkID?, text: String) {
            self.face = face
            self.network = network
            self.text = Identifier(trusted: text)
        }
    }

    private struct Hash: Hashable {
        var face: FaceName
        var secret: SecretHash
    }

    /// Those who may name a pattern: everybody, or a network's own callers.
    private struct Audience: Hashable {
        var face: FaceName
        var network: NetworkID?
    }

    private struct App: Hashable {
        var network: NetworkID
        var provider: ProviderName
        var id: String
    }

    private var bindings: [Name: FaceBinding] = [:]
    private var buzzApps: Set<App> = []
    private var bound: Set<FaceName> = []
    /// The names that only some networks' callers can use, without the networks.
    private var hidden: Set<Name> = []
    /// How much stands before the `*` of patterns, the most first: strangers may ask for any name, at no more than these look-ups.
    private var patternLengths: [FaceName: [Int]] = [:]
    /// Patterns with wildcards elsewhere, the narrowest first.
    private var patterns: [Audience: [NamePattern]] = [:]
    /// The same of ``hidden``: no more than so many are looked through for strangers.
    private var hiddenPatterns: [FaceName: [NamePattern]] = [:]
    private static let maximumHiddenPatterns = 1_000
    /// With how many characters of patterns a name is compared: admins may have written such as take very many.
    private static let maximumSteps = 100_000
    private var byName: [Name: StoredFaceKey] = [:]
    private var byHash: [Hash: StoredFaceKey] = [:]
    private var byOwner: [Name: StoredFaceKey] = [:]

    package init(_ list: FaceList) {
        var lengths: [FaceName: Set<Int>] = [:]
        var patterns: [Audience: Set<NamePattern>] = [:]
        var hiddenPatterns: [FaceName: Set<NamePattern>] = [:]
        for binding in list.bindings {
            let owner = binding.isPrivate ? binding.networkID : nil
            bindings[Name(face: binding.face, network: owner, text: binding.externalID)] = binding
            bound.insert(binding.face)
            if binding.face == .buzz { buzzApps.formUnion(Self.apps(of: binding)) }
            if binding.isPrivate { hidden.insert(Name(face: binding.face, network: nil, text: binding.externalID)) }
            guard let pattern = NamePattern(binding.externalID) else { continue }
            if pattern.isPrefix {
                lengths[binding.face, default: []].insert(pattern.weight)
            } else {
                patterns[Audience(face: binding.face, network: owner), default: []].insert(pattern)
                if binding.isPrivate { hiddenPatterns[binding.face, default: []].insert(pattern) }
            }
        }
        patternLengths = lengths.mapValues { $0.sorted(by: >) }
        self.patterns = patterns.mapValues(Self.narrowestFirst)
        self.hiddenPatterns = hiddenPatterns.mapValues {
            Array(Self.narrowestFirst($0).prefix(Self.maximumHiddenPatterns))
        }
        for stored in list.keys {
            byOwner[Name(face: stored.key.face, network: stored.key.networkID, text: stored.key.name)] = stored
            switch stored.proof {
            case .hash(let hash): byHash[Hash(face: stored.key.face, secret: hash)] = stored
            case .secret: byName[Name(face: stored.key.face, network: nil, text: stored.key.name)] = stored
            }
        }
    }

    /// Whether devices of an app get what Buzz's apps read.
    package func isBuzz(_ provider: ProviderName, _ appID: String, in network: NetworkID) -> Bool {
        buzzApps.contains(App(network: network, provider: provider, id: appID))
    }

    private static func apps(of binding: FaceBinding) -> [App] {
        [("ios", ProviderName.apns), ("android", .fcm)].map { key, provider in
            let id = binding.settings[key]?["appId"]?.text ?? binding.externalID
            return App(network: binding.networkID, provider: provider, id: id)
        }
    }

    private static func narrowestFirst(_ patterns: Set<NamePattern>) -> [NamePattern] {
        patterns.sorted { ($1.weight, $0.text) < ($0.weight, $1.text) }
    }

    /// Whether any network has bound a name of a face: until then the face is not there.
    package func isBound(_ face: FaceName) -> Bool { bound.contains(face) }

    /// The binding of a name: of those that anybody can name, or, with `network`, of those that only its callers can.
    package func binding(_ face: FaceName, _ name: String, ownedBy network: NetworkID? = nil) -> FaceBinding? {
        bindings[Name(face: face, network: network, text: name)]
    }

    /// The binding of a name, or of the pattern with the most other characters that stands for it, as far as that is found out in a
    /// bounded time.
    package func binding(_ face: FaceName, matching name: String, ownedBy network: NetworkID? = nil) -> FaceBinding? {
        bestMatch(face, of: name, among: patterns[Audience(face: face, network: network)] ?? []) {
            binding(face, $0, ownedBy: network)
        }
    }

    /// Whether a name, or a pattern that stands for it, is bound so that only its network's callers can use it; as far as that is
    /// found out in a bounded time.
    package func isPrivate(_ face: FaceName, matching name: String) -> Bool {
        let patterns = hiddenPatterns[face] ?? []
        let found: Bool? = bestMatch(face, of: name, among: patterns) { text in
            hidden.contains(Name(face: face, network: nil, text: text)) ? true : nil
        }
        return found ?? false
    }

    /// What is found for a name, or for the pattern with the most other characters that stands for it; `patterns` are those with
    /// wildcards elsewhere than at the end, the narrowest first.
    private func bestMatch<Found>(
        _ face: FaceName,
        of name: String,
        among patterns: [NamePattern],
        _ find: (String) -> Found?
    ) -> Found? {
        if let exact = find(name) { return exact }
        let scalars = Array(name.unicodeScalars)
        var best: (found: Found, weight: Int)?
        for length in patternLengths[face] ?? [] where length <= scalars.count {
            guard let found = find(String(String.UnicodeScalarView(scalars.prefix(length))) + "*") else { continue }
            best = (found, length)
            break
        }
        var steps = Self.maximumSteps
        for pattern in patterns where pattern.weight > best?.weight ?? -1 {
            if pattern.matches(scalars, within: &steps), let found = find(pattern.text) { return found }
        }
        // Those that were not compared may be narrower.
        return steps > 0 ? best?.found : nil
    }

    package func key(_ face: FaceName, secret: String) -> StoredFaceKey? {
        byHash[Hash(face: face, secret: SecretHash(of: secret))]
    }

    /// The key of a name that its holder has named, where it verifies what was signed with it.
    package func key(_ face: FaceName, named name: String) -> StoredFaceKey? {
        byName[Name(face: face, network: nil, text: name)]
    }

    /// A network's key of a name: whether what it was good for once still holds.
    package func key(_ face: FaceName, named name: String, of network: NetworkID) -> StoredFaceKey? {
        byOwner[Name(face: face, network: network, text: name)]
    }
}
