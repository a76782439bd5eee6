/// Says that a name is unknown, and which one was probably meant.
struct UnknownName: CustomStringConvertible {
    private let name: String
    private let known: [String]

    init(_ name: String, among known: [String]) {
        self.name = name
        self.known = known
    }

    /// One sentence without a full stop.
    var description: String {
        let meant = known.min { distance(to: $0) < distance(to: $1) }
        if let meant, distance(to: meant) <= max(2, meant.count / 4) {
            return "\(name) is unknown; did you mean \(meant)?"
        }
        return "\(name) is unknown; known are \(known.joined(separator: ", "))"
    }

    /// How many characters have to be put in, left out or replaced (Levenshtein); names that are too long are far away.
    private func distance(to other: String) -> Int {
        let (from, to) = (Array(name.utf8.prefix(64)), Array(other.utf8))
        var row = Array(0...to.count)
        for (index, character) in from.enumerated() {
            var diagonal = row[0]
            row[0] = index + 1
            for column in to.indices {
                let substitution = diagonal + (character == to[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = min(substitution, row[column] + 1, diagonal + 1)
            }
        }
        return row[to.count] + max(0, name.utf8.count - from.count)
    }
}
