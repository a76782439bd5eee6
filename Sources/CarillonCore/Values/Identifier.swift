/// An id that a caller chose, tied to the kind of thing it names, so that a user's id cannot be passed for a channel's.
///
/// 1 to 256 bytes of UTF-8 without control characters (API section 1), but not `.` or `..`, which clients take out of paths.
package struct Identifier<Subject>: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest id, in bytes of UTF-8.
    package static var maximumBytes: Int { 256 }

    /// The id as its owner wrote it.
    package let rawValue: String

    /// Checks an id that came from outside; `nil` when it is empty, too long, `.` or `..`, or holds a control character.
    package init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        guard text != ".", text != "..", !text.unicodeScalars.contains(where: \.isControl) else { return nil }
        rawValue = text
    }

    /// Takes an id that was checked before, such as one read back from the database.
    package init(trusted text: String) {
        rawValue = text
    }

    /// The id itself: ids are not secrets.
    package var description: String { rawValue }

    /// Equal bytes make equal ids, as in the database: `String` would also take other spellings of `é` for the same.
    package static func == (left: Self, right: Self) -> Bool {
        left.rawValue.hasSameBytes(as: right.rawValue)
    }

    /// Hashes the bytes, as ``==(_:_:)`` compares them.
    package func hash(into hasher: inout Hasher) {
        let isDone: Void? = rawValue.utf8.withContiguousStorageIfAvailable {
            hasher.combine(bytes: UnsafeRawBufferPointer($0))
        }
        if isDone == nil { Array(rawValue.utf8).withUnsafeBytes { hasher.combine(bytes: $0) } }
    }

    /// Orders ids by their bytes, the order in which rows are locked.
    package static func < (left: Self, right: Self) -> Bool {
        left.rawValue.precedesByBytes(right.rawValue)
    }
}

extension Unicode.Scalar {
    /// Whether it is one of the C0 and C1 controls or DEL: the general category Cc.
    package var isControl: Bool { value < 0x20 || (0x7F..<0xA0).contains(value) }
}

/// Names one network (tenant).
package typealias NetworkID = Identifier<Network>
/// Names one person inside a network.
package typealias UserID = Identifier<Person>
extension UserID {
    /// Stands for the owner of a device that nobody owns: an id that cannot come from outside, and that no user has.
    package static let nobody = UserID(trusted: "")

    package var isNobody: Bool { rawValue.isEmpty }

    /// The id; `null` for nobody's.
    package var json: JSONValue { isNobody ? .null : .string(rawValue) }
}

/// Names one chat channel inside a network.
package typealias ChannelID = Identifier<Channel>
/// Names one device inside a network.
package typealias DeviceID = Identifier<Device>
