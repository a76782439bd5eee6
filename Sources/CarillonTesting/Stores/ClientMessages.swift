/// Reads what a client sends to a PostgreSQL server, as it comes in.
///
/// See "Message Formats" in PostgreSQL's documentation, section 55.7: a type and a length, but for the first, which has no type.
struct ClientMessages {
    private var rest: [UInt8] = []
    private var hasStarted = false

    /// Takes in the next bytes; answers how many statements the messages that end with them have run.
    mutating func take(_ bytes: [UInt8]) -> Int {
        rest += bytes
        var statements = 0
        while true {
            let head = hasStarted ? 1 : 0
            guard rest.count >= head + 4 else { return statements }
            let length = rest[head..<head + 4].reduce(0) { $0 << 8 | Int($1) }
            guard rest.count >= head + length else { return statements }
            // Execute and Query.
            if hasStarted, [UInt8(ascii: "E"), UInt8(ascii: "Q")].contains(rest[0]) { statements += 1 }
            rest.removeFirst(head + length)
            hasStarted = true
        }
    }
}
