import CarillonCore

/// What others say of people, channels and messages, as far as it can be taken over: a description that goes too far is cut or left
/// out, and what has no usable id is nothing.
extension Person {
    /// Somebody with that id.
    init?(
        _ id: JSONValue?,
        name: JSONValue? = nil,
        locale: JSONValue? = nil,
        roles: [JSONValue]? = nil
    ) {
        guard let id = id?.idText.flatMap({ UserID($0) }), !id.isReserved else { return nil }
        let roles = roles?.compactMap(\.text).filter { $0.utf8.count <= Self.longestRole }.prefix(Self.mostRoles)
        self.init(
            id: id,
            displayName: name?.shownName,
            locale: locale?.text.flatMap { LocaleTag($0)?.rawValue },
            roles: roles.map { Array($0) }
        )
    }
}

extension Channel {
    /// A channel with that id.
    init?(_ id: JSONValue?, name: JSONValue? = nil, isDirect: Bool? = nil) {
        guard let id = id?.idText.flatMap({ ChannelID($0) }) else { return nil }
        self.init(id: id, displayName: name?.shownName, isDirect: isDirect)
    }
}

extension Message {
    /// A message of a type that goes by the same names as ours, or any other.
    init(_ id: JSONValue?, type: String, text: String?) {
        let kind = Kind(rawValue: type) ?? .other
        self.init(
            id: id?.messageID,
            kind: kind,
            typeName: kind == .other ? type.beginning(ofBytes: Identifier<Message>.maximumBytes) : nil,
            text: text ?? ""
        )
    }
}

extension JSONValue {
    /// A message's id, where it is one that events may have.
    var messageID: String? {
        idText.flatMap { (1...Identifier<Message>.maximumBytes).contains($0.utf8.count) ? $0 : nil }
    }

    /// A name to show; `nil` for one that is empty.
    fileprivate var shownName: String? {
        text.flatMap { $0.isEmpty ? nil : $0.beginning(ofBytes: Person.longestName) }
    }
}

extension [Person] {
    /// Each of them once, the first of several with the same id, and no more than an event may list.
    var unique: [Person] {
        var seen = Set<UserID>(minimumCapacity: count)
        return Array(filter { seen.insert($0.id).inserted }.prefix(10_000))
    }

    /// Those who are none of these.
    func without(_ others: some Sequence<Person>) -> [Person] {
        let ids = Set(others.map(\.id))
        return filter { !ids.contains($0.id) }
    }
}

extension [JSONValue] {
    /// The usable ids of people.
    var userIDs: Set<UserID> { Set(compactMap { Person($0)?.id }.prefix(10_000)) }
}
