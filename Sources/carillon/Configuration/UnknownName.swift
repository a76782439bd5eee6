import CarillonCore

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
        if let meant = ClosestName(to: name, among: known), meant.isSimilar {
            return "\(name) is unknown; did you mean \(meant.name)?"
        }
        return "\(name) is unknown; known are \(known.joined(separator: ", "))"
    }
}
