/// An id that a caller chose, tied to the kind of thing it names, so that a user's id cannot be passed for a channel's.
///
/// 1 to 256 bytes of UTF-8 without control characters (API section 1).
public struct Identifier<Subject>: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The longest id, in bytes of UTF-8.
    public static var maximumBytes: Int { 256 }

    /// The id as its owner wrote it.
    public let rawValue: String

    /// Checks an id that came from outside; `nil` when it is empty, too long or holds a control character.
    public init?(_ text: String) {
        guard (1...Self.maximumBytes).contains(text.utf8.count) else { return nil }
        guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else { return nil }
        rawValue = text
    }

    /// Takes an id that was checked before, such as one read back from the database.
    public init(trusted text: String) {
        rawValue = text
    }

    /// The id itself: ids are not secrets.
    public var description: String { rawValue }

    /// Orders ids by their bytes, the order in which rows are locked.
    public static func < (left: Self, right: Self) -> Bool {
        left.rawValue.utf8.lexicographicallyPrecedes(right.rawValue.utf8)
    }
}

/// Names one network (tenant).
public typealias NetworkID = Identifier<Network>
/// Names one person inside a network.
public typealias UserID = Identifier<Person>
/// Names one chat channel inside a network.
public typealias ChannelID = Identifier<Channel>
/// Names one device inside a network.
public typealias DeviceID = Identifier<Device>
