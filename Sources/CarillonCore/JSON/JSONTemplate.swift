/// JSON that is written once for many, with holes for what differs from one to the other.
package struct JSONTemplate: Sendable {
    // JSON text has no such byte: U+0000 in a string is escaped, and refused where text comes from outside.
    private static let mark: UInt8 = 0

    private var pieces: [ArraySlice<UInt8>] = []
    private var holes: [Int] = []

    /// The value that makes a hole of this number, from 0 to 9.
    package static func hole(_ number: Int) -> JSONValue {
        .number(JSONNumber(checked: "\u{0}\(number)"))
    }

    package static func isHole(_ value: JSONValue) -> Bool {
        guard case .number(let number) = value else { return false }
        return number.literal.utf8.first == mark
    }

    package init(_ value: JSONValue) {
        let bytes = value.serialized
        var start = bytes.startIndex
        while let mark = bytes[start...].firstIndex(of: Self.mark) {
            pieces.append(bytes[start..<mark])
            holes.append(Int(bytes[mark + 1] - UInt8(ascii: "0")))
            start = mark + 2
        }
        pieces.append(bytes[start...])
    }

    /// How long the JSON is with holes that take so many bytes each.
    package func count(_ size: (Int) -> Int) -> Int {
        holes.reduce(pieces.reduce(0) { $0 + $1.count }) { $0 + size($1) }
    }

    /// The JSON, with each hole filled by a value in JSON that `fill` appends.
    package func filled(_ fill: (Int, inout [UInt8]) -> Void) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count { _ in 64 })
        for (index, piece) in pieces.enumerated() {
            bytes.append(contentsOf: piece)
            if index < holes.count { fill(holes[index], &bytes) }
        }
        return bytes
    }
}
