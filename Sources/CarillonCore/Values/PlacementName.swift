/// What a placement is called: a database, or a schema of one, that holds all there is of some networks.
///
/// `[a-z][a-z0-9-]{0,31}`. ``home`` is the one that every installation has.
package struct PlacementName: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The placement of the main database URL, which also keeps the list of who is where.
    package static let home = PlacementName(trusted: "default")

    private static let longest = 32

    package let rawValue: String

    private init(trusted text: String) { rawValue = text }

    package init?(_ text: String) {
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        guard let first = text.utf8.first, letters.contains(first), text.utf8.count <= Self.longest,
            text.utf8.allSatisfy({ letters.contains($0) || $0.isASCIIDigit || $0 == UInt8(ascii: "-") })
        else { return nil }
        rawValue = text
    }

    package var description: String { rawValue }

    package static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}
