import CarillonCore

/// Cuts a stream of bytes into lines, however the bytes arrive.
struct LineSplitter {
    static let maximumLineBytes = 64 * 1024

    /// The number of the line that is being read, counted from 1.
    private(set) var lineNumber = 1
    private var line: [UInt8] = []

    /// Takes bytes and hands on every line that they end; lines without content are passed over.
    ///
    /// - Throws: `invalid-import` for a line that is too long, and what `handle` throws.
    mutating func take(_ bytes: UnsafeRawBufferPointer, _ handle: ([UInt8], Int) throws -> Void) throws {
        var rest = bytes[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            try append(rest[..<end])
            try finish(handle)
            rest = rest[(end + 1)...]
        }
        try append(rest)
    }

    /// Hands on the last line, if it has no end of its own.
    mutating func finish(_ handle: ([UInt8], Int) throws -> Void) throws {
        if line.contains(where: { !" \t\r".utf8.contains($0) }) { try handle(line, lineNumber) }
        line.removeAll(keepingCapacity: true)
        lineNumber += 1
    }

    private mutating func append(_ bytes: Slice<UnsafeRawBufferPointer>) throws(InvalidInput) {
        guard line.count + bytes.count <= Self.maximumLineBytes else {
            throw ImportLine.failure(lineNumber, "is longer than \(Self.maximumLineBytes) bytes")
        }
        line.append(contentsOf: bytes)
    }
}
