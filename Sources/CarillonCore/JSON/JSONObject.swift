/// The members of a JSON object in the order in which they were written, each name once.
///
/// Names are compared byte by byte, as RFC 8259 section 8.3 asks, not by Unicode equivalence. Up to 16 members are
/// searched one after the other; beyond that they are hashed, with the process's random seed, so that an object of
/// hostile names stays linear to build.
package struct JSONObject: Sendable {
    private static let searchedLinearly = 16

    package private(set) var members: [(key: String, value: JSONValue)] = []
    private var positions: [ByteKey: Int]?

    package init() {}

    package var count: Int { members.count }

    package var isEmpty: Bool { members.isEmpty }

    package var keys: [String] { members.map(\.key) }

    /// The value of a name. A new name goes to the end, `nil` removes (in linear time), `.null` is a value.
    package subscript(key: String) -> JSONValue? {
        get { position(of: key).map { members[$0].value } }
        set {
            switch (position(of: key), newValue) {
            case (let position?, let value?): members[position].value = value
            case (let position?, nil): remove(at: position)
            case (nil, let value?): appendUnchecked(key, value)
            case (nil, nil): break
            }
        }
    }

    /// Adds a member at the end unless the name is taken.
    mutating func append(_ key: String, _ value: JSONValue) -> Bool {
        guard position(of: key) == nil else { return false }
        appendUnchecked(key, value)
        return true
    }

    mutating func reserveCapacity(_ count: Int) {
        members.reserveCapacity(count)
    }

    /// Whether there is a member of that name, be it `null`.
    package func contains(_ key: String) -> Bool { position(of: key) != nil }

    private func position(of key: String) -> Int? {
        if let positions { return positions[ByteKey(text: key)] }
        return members.indices.first { members[$0].key.hasSameBytes(as: key) }
    }

    private mutating func appendUnchecked(_ key: String, _ value: JSONValue) {
        members.append((key, value))
        if positions != nil {
            positions?[ByteKey(text: key)] = members.count - 1
        } else if members.count > Self.searchedLinearly {
            index()
        }
    }

    private mutating func remove(at position: Int) {
        members.remove(at: position)
        positions = nil
        if members.count > Self.searchedLinearly { index() }
    }

    private mutating func index() {
        var positions = [ByteKey: Int](minimumCapacity: 2 * members.count)
        for (position, member) in members.enumerated() {
            positions[ByteKey(text: member.key)] = position
        }
        self.positions = positions
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    /// The members in the order in which they are written, without those that are `nil`; the last one of a name wins.
    package init(dictionaryLiteral elements: (String, JSONValue?)...) {
        self.init(elements)
    }
}

extension JSONObject {
    /// Members in an order, without those that are `nil`; the last one of a name wins.
    package init(_ members: some Sequence<(String, JSONValue?)>) {
        self.init()
        reserveCapacity(members.underestimatedCount)
        for (key, value) in members { self[key] = value }
    }

    /// Takes over another object's members: those of a name that there is in its place, the others at the end.
    package mutating func merge(_ other: JSONObject) {
        for (key, value) in other.members { self[key] = value }
    }

    /// The members of several objects, as of ``merge(_:)``.
    package init(joining parts: JSONObject...) {
        self.init()
        for part in parts { merge(part) }
    }
}

extension JSONObject: Equatable {
    /// Equal members, in any order.
    package static func == (left: Self, right: Self) -> Bool {
        left.count == right.count && left.members.allSatisfy { right[$0.key] == $0.value }
    }
}

/// A name by its bytes: `String` would take the two spellings of `é` for one.
private struct ByteKey: Hashable {
    let text: String

    static func == (left: Self, right: Self) -> Bool {
        left.text.hasSameBytes(as: right.text)
    }

    func hash(into hasher: inout Hasher) {
        var text = text
        text.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}
