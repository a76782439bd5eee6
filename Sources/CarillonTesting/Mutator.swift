package import CarillonCore

/// Changes bodies a little, so that most of them are almost what they were.
package enum Mutator {
    private static let tokens = [
        "null", "true", "[]", "{}", "\"\"", "9007199254740993", "-1", "1e400", "\"\\u0000\"", "\"\\ud800\"", "\"me\"",
        "\"" + String(repeating: "é", count: 600) + "\"", "[[[[[[[[[[[[", "}", ",", "\u{FF}",
    ].map { Array($0.utf8) }

    /// A body with one to four changes, for some of which a part of another is taken.
    package static func mutated(_ body: [UInt8], with others: [[UInt8]], _ random: inout SplitMix) -> [UInt8] {
        var body = body
        for _ in 0..<Int.random(in: 1...4, using: &random) { mutate(&body, others, &random) }
        return body
    }

    private static func mutate(_ body: inout [UInt8], _ others: [[UInt8]], _ random: inout SplitMix) {
        guard !body.isEmpty else {
            body = others.randomElement(using: &random) ?? []
            return
        }
        let position = Int.random(in: 0..<body.count, using: &random)
        switch Int.random(in: 0..<7, using: &random) {
        case 0: body[position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        case 1: body.remove(at: position)
        case 2: body.insert(UInt8.random(in: 0...255, using: &random), at: position)
        case 3: body.removeSubrange(position..<min(body.count, position + Int.random(in: 1...40, using: &random)))
        case 4:
            let token = tokens.randomElement(using: &random) ?? []
            body.replaceSubrange(value(at: position, in: body), with: token)
        case 5:
            let other = others.randomElement(using: &random) ?? []
            body.insert(contentsOf: other.prefix(Int.random(in: 0...other.count, using: &random)), at: position)
        default:
            body.insert(contentsOf: body[position..<min(body.count, position + 60)], at: position)
        }
    }

    /// From a colon up to the next comma or bracket: mostly a whole value, so that what comes of it is JSON.
    private static func value(at position: Int, in body: [UInt8]) -> Range<Int> {
        let start = body[position...].firstIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? position
        let end = body[start...].firstIndex { [UInt8(ascii: ","), UInt8(ascii: "}"), UInt8(ascii: "]")].contains($0) }
        return start..<(end ?? body.count)
    }
}
