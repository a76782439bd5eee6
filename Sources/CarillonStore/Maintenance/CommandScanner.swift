/// Reads the commands of a text of SQL one by one, each without the semicolon behind it.
///
/// A semicolon in a text, a name, a comment or the body of a function ends none.
struct CommandScanner: Sequence, IteratorProtocol {
    private let bytes: [UInt8]
    private var position = 0

    init(_ text: String) {
        bytes = Array(text.utf8)
    }

    /// The next command; `nil` when there is none but comments and blanks.
    mutating func next() -> String? {
        let start = position
        var hasWords = false
        // How deep in bodies of functions, and expressions of theirs that end as those do.
        var depth = 0
        var former: [UInt8] = []
        while position < bytes.count {
            let byte = bytes[position]
            if skipComment() { continue }
            if byte == UInt8(ascii: ";"), depth == 0 {
                let command = bytes[start..<position]
                position += 1
                if hasWords { return String(decoding: command, as: UTF8.self) }
                return next()
            }
            hasWords = hasWords || !byte.isBlank
            guard !skipText() else { continue }
            let word = bytes[position...].prefix(while: \.isOfWord).map(\.uppercased)
            position += Swift.max(1, word.count)
            guard !word.isEmpty else { continue }
            switch String(decoding: word, as: UTF8.self) {
            case "ATOMIC" where former == Array("BEGIN".utf8): depth = 1
            case "CASE" where depth > 0: depth += 1
            case "END" where depth > 0: depth -= 1
            default: break
            }
            former = word
        }
        return hasWords ? String(decoding: bytes[start...], as: UTF8.self) : nil
    }

    private mutating func skipComment() -> Bool {
        if bytes[position...].starts(with: "--".utf8) {
            skip(behind: "\n")
        } else if bytes[position...].starts(with: "/*".utf8) {
            skip(behind: "*/")
        } else {
            return false
        }
        return true
    }

    /// Skips a text or a quoted name; one with a doubled quote in it is two to this.
    private mutating func skipText() -> Bool {
        switch bytes[position] {
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            let quote = String(UnicodeScalar(bytes[position]))
            position += 1
            skip(behind: quote)
        case UInt8(ascii: "$"):
            let tag = bytes[(position + 1)...].prefix(while: \.isOfWord)
            let end = position + tag.count + 1
            guard bytes.indices.contains(end), bytes[end] == UInt8(ascii: "$") else { return false }
            position = end + 1
            skip(behind: "$" + String(decoding: tag, as: UTF8.self) + "$")
        default: return false
        }
        return true
    }

    private mutating func skip(behind mark: String) {
        let mark = Array(mark.utf8)
        while position < bytes.count, !bytes[position...].starts(with: mark) { position += 1 }
        position = Swift.min(bytes.count, position + mark.count)
    }
}

extension UInt8 {
    fileprivate var isBlank: Bool { self == UInt8(ascii: " ") || (9...13).contains(self) }

    fileprivate var isOfWord: Bool {
        switch self {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), 0x80...:
            true
        default: false
        }
    }

    fileprivate var uppercased: UInt8 { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self) ? self & 0xDF : self }
}
