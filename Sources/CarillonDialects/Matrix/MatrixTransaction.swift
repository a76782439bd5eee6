/// The events of a transaction, each with its own bytes: one that cannot be read is passed over, and the others are not.
///
/// A homeserver repeats a transaction until it is taken, and sends nothing else meanwhile. So what is in an event, which any user of
/// it may have written, must never be a reason to refuse the rest. Members of the body that nobody asks for are not looked into at
/// all.
struct MatrixTransaction {
    /// Where the events stand in the body; `nil` when nothing says what the events are.
    let events: [Range<Int>]?

    /// Finds the events of a body, of more than `most` only one more; `nil` when its brackets and quotes make no object.
    init?(_ body: [UInt8], upTo most: Int) {
        var scanner = Scanner(body)
        var found: [Range<Int>]?
        let isWhole = scanner.members { name, scanner in
            guard body[name].elementsEqual(#""events""#.utf8), scanner.next == UInt8(ascii: "[") else {
                return scanner.skip()
            }
            var events: [Range<Int>] = []
            guard found == nil, scanner.elements({ if events.count <= most { events.append($0) } }) else {
                return false
            }
            found = events
            return true
        }
        guard isWhole, scanner.isAtEnd else { return nil }
        events = found
    }

    /// Walks along brackets, quotes and what is between them. What is inside is for whoever reads it.
    private struct Scanner {
        private let bytes: [UInt8]
        private var position = 0

        init(_ bytes: [UInt8]) {
            self.bytes = bytes
            skipSpace()
        }

        var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        var isAtEnd: Bool { next == nil }

        /// Goes through an object; `take` has to pass the value of each member.
        mutating func members(_ take: (_ name: Range<Int>, _ scanner: inout Self) -> Bool) -> Bool {
            list(from: "{", to: "}") { scanner in
                let start = scanner.position
                guard scanner.skipText() else { return false }
                let name = start..<scanner.position
                scanner.skipSpace()
                return scanner.skip(":") && take(name, &scanner)
            }
        }

        mutating func elements(_ take: (Range<Int>) -> Void) -> Bool {
            list(from: "[", to: "]") { scanner in
                let start = scanner.position
                guard scanner.skip() else { return false }
                take(start..<scanner.position)
                return true
            }
        }

        mutating func skip() -> Bool {
            let start = position
            var open: [UInt8] = []
            while let byte = next {
                switch byte {
                case UInt8(ascii: "\""):
                    guard skipText() else { return false }
                case UInt8(ascii: "{"), UInt8(ascii: "["):
                    open.append(byte)
                    position += 1
                case UInt8(ascii: "}"), UInt8(ascii: "]"):
                    // In ASCII the brackets that end stand two behind those that begin.
                    guard let last = open.popLast() else { return position > start }
                    guard byte == last + 2 else { return false }
                    position += 1
                case UInt8(ascii: ",") where open.isEmpty:
                    return position > start
                default:
                    position += 1
                }
            }
            return open.isEmpty && position > start
        }

        private mutating func list(from first: Character, to last: Character, _ item: (inout Self) -> Bool) -> Bool {
            guard skip(first) else { return false }
            if skip(last) { return true }
            while true {
                guard item(&self) else { return false }
                skipSpace()
                if skip(last) { return true }
                guard skip(",") else { return false }
            }
        }

        private mutating func skip(_ character: Character) -> Bool {
            guard next == character.asciiValue else { return false }
            position += 1
            skipSpace()
            return true
        }

        private mutating func skipText() -> Bool {
            guard next == UInt8(ascii: "\"") else { return false }
            position += 1
            while let byte = next {
                position += 1
                if byte == UInt8(ascii: "\"") { return true }
                if byte == UInt8(ascii: "\\") { position += 1 }
            }
            return false
        }

        private mutating func skipSpace() {
            while let byte = next, [0x20, 0x09, 0x0A, 0x0D].contains(byte) { position += 1 }
        }
    }
}
