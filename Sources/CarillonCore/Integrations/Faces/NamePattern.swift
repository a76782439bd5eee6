/// A name in which `*` stands for any text and `?` for any one character.
struct NamePattern: Sendable, Hashable {
    private static let any: Unicode.Scalar = "*"
    private static let one: Unicode.Scalar = "?"

    let text: String
    /// How many other characters it has: the more, the narrower.
    let weight: Int
    private let scalars: [Unicode.Scalar]

    /// A pattern; `nil` for a name without wildcards.
    init?(_ text: String) {
        scalars = Array(text.unicodeScalars)
        weight = Self.weight(of: text)
        self.text = text
        guard weight < scalars.count else { return nil }
    }

    /// How many characters of a text are no wildcards.
    static func weight(of text: String) -> Int { text.unicodeScalars.count { $0 != any && $0 != one } }

    /// Whether its only wildcard is a `*` at the end.
    var isPrefix: Bool { scalars.last == Self.any && weight == scalars.count - 1 }

    /// Whether a name is one of those that it stands for. Takes no more steps than the product of both lengths.
    func matches(_ name: [Unicode.Scalar]) -> Bool {
        var (place, position) = (0, 0)
        // Where the last `*` stands, and how much of the name it took.
        var retry: (place: Int, position: Int)?
        while position < name.count {
            if place < scalars.count, scalars[place] == Self.any {
                retry = (place, position)
                place += 1
            } else if place < scalars.count, scalars[place] == Self.one || scalars[place] == name[position] {
                place += 1
                position += 1
            } else if let last = retry {
                retry = (last.place, last.position + 1)
                (place, position) = (last.place + 1, last.position + 1)
            } else {
                return false
            }
        }
        return scalars[place...].allSatisfy { $0 == Self.any }
    }
}
