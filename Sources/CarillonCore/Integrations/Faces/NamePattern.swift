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

    /// Whether a name is one of those that it stands for. Takes no more steps than the product of both lengths, and none beyond `steps`,
    /// from which they are taken: where there are none left, it is not found out.
    func matches(_ name: [Unicode.Scalar], within steps: inout Int) -> Bool {
        var (index, position) = (0, 0)
        // Where the last `*` stands, and how much of the name it took.
        var retry: (index: Int, position: Int)?
        while position < name.count {
            guard steps > 0 else { return false }
            steps -= 1
            if index < scalars.count, scalars[index] == Self.any {
                retry = (index, position)
                index += 1
            } else if index < scalars.count, scalars[index] == Self.one || scalars[index] == name[position] {
                index += 1
                position += 1
            } else if let last = retry {
                retry = (last.index, last.position + 1)
                (index, position) = (last.index + 1, last.position + 1)
            } else {
                return false
            }
        }
        return scalars[index...].allSatisfy { $0 == Self.any }
    }
}
