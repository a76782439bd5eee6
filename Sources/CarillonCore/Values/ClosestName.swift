/// The name that was probably meant by one that nobody knows.
package struct ClosestName: Sendable {
    package let name: String
    /// How many characters have to be put in, left out or replaced (Levenshtein).
    package let distance: Int

    /// The closest of some names, the first of several; `nil` where there are none.
    package init?(to name: String, among known: [String]) {
        let distances = known.map { (name: $0, distance: Self.distance(from: name, to: $0)) }
        guard let closest = distances.min(by: { $0.distance < $1.distance }) else { return nil }
        (self.name, distance) = closest
    }

    /// Whether it is so close that it was mistyped.
    package var isSimilar: Bool { distance <= max(2, name.count / 4) }

    /// Names that are too long are far away.
    private static func distance(from name: String, to other: String) -> Int {
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
