/// Reads network-order integers and slices off the front of a buffer, never beyond its end.
struct ByteReader {
    private var rest: Slice<UnsafeRawBufferPointer>

    init(_ bytes: UnsafeRawBufferPointer) {
        rest = bytes[...]
    }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func read<Integer: FixedWidthInteger>(_ type: Integer.Type) -> Integer? {
        guard let bytes = read(count: Integer.bitWidth / 8) else { return nil }
        return Integer(bigEndian: bytes.loadUnaligned(as: type))
    }

    mutating func read(count: Int) -> UnsafeRawBufferPointer? {
        guard count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return UnsafeRawBufferPointer(rebasing: rest.prefix(count))
    }
}
