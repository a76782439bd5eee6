package import struct Foundation.UUID

/// A position in the order in which the database accepts events and makes members: whoever has the smaller one was first.
///
/// What was before there were marks has a UUIDv7 in its place, which is smaller than all of them.
package struct EventMark: Sendable, Hashable, Comparable {
    /// The store's own notation.
    package let rawValue: UUID

    package init(_ rawValue: UUID) {
        self.rawValue = rawValue
    }

    /// The position before is the smaller one.
    package static func < (left: Self, right: Self) -> Bool { left.rawValue.precedes(right.rawValue) }
}
