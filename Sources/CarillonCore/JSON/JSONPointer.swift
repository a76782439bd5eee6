/// Writes JSON Pointers (RFC 6901).
enum JSONPointer {
    /// A longer name is cut, so that an answer does not grow with a hostile body.
    private static let maximumBytes = 128

    private static let tilde = UInt8(ascii: "~")
    private static let slash = UInt8(ascii: "/")

    /// One step of a pointer, to a member: the slash and the escaped name.
    static func step(_ name: String) -> String {
        let isPlain = name.utf8.count <= maximumBytes && !name.utf8.contains { $0 == tilde || $0 == slash }
        if isPlain { return "/" + name }
        var step = "/"
        for character in name.unicodeScalars {
            if step.utf8.count > maximumBytes { return step + "…" }
            switch character {
            case "~": step += "~0"
            case "/": step += "~1"
            default: step.unicodeScalars.append(character)
            }
        }
        return step
    }

    static func step(_ index: Int) -> String { "/\(index)" }
}
