package import struct Foundation.UUID

/// Carillon's own id of an accepted event: a UUIDv7 (RFC 9562), so that ids sort by acceptance.
package struct EventID: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let uuid: UUID

    package init(_ uuid: UUID) {
        self.uuid = uuid
    }

    /// Reads the canonical text form, in either case; `nil` for anything else.
    package init?(_ text: String) {
        guard text.utf8.count == 36, let uuid = UUID(uuidString: text) else { return nil }
        self.uuid = uuid
    }

    /// The canonical lower-case form.
    package var description: String { uuid.canonicalText }

    /// When it was made, in milliseconds since 1970: the first 48 bits of a UUIDv7 (RFC 9562 section 5.7).
    package var milliseconds: Int64 {
        withUnsafeBytes(of: uuid.uuid) { bytes in bytes.prefix(6).reduce(0) { $0 << 8 | Int64($1) } }
    }

    /// The event accepted earlier is the smaller one.
    package static func < (left: Self, right: Self) -> Bool {
        left.uuid.precedes(right.uuid)
    }
}

extension UUID {
    /// The lower-case form with hyphens that push services ask for (RFC 9562 section 4).
    package var canonicalText: String {
        withUnsafeBytes(of: uuid) { bytes in
            String(unsafeUninitializedCapacity: 36) { text in
                var position = 0
                for (index, byte) in bytes.enumerated() {
                    if index == 4 || index == 6 || index == 8 || index == 10 {
                        text[position] = UInt8(ascii: "-")
                        position += 1
                    }
                    text[position] = hexDigit(byte >> 4)
                    text[position + 1] = hexDigit(byte & 15)
                    position += 2
                }
                return position
            }
        }
    }

    /// Byte order, which for UUIDv7 is the order of time.
    func precedes(_ other: UUID) -> Bool {
        withUnsafeBytes(of: uuid) { left in
            withUnsafeBytes(of: other.uuid) { right in left.lexicographicallyPrecedes(right) }
        }
    }
}
