/// An event's `data`, of which its kind takes what such events carry.
package struct EventData {
    /// The most entries of `members` and of `mentions`.
    private static let maximumPeopleCount = 10_000

    /// Its members, for what no method here reads.
    var object: JSONObjectReader
    /// Whether all of them are understood; else those that the first release knew, which passed over any other, whatever it was.
    let isWhole: Bool

    mutating func channel() -> Channel? { object.channel("channel", required: true, isWhole: isWhole) }

    /// Who caused it.
    mutating func user(required: Bool = false) -> Person? { object.person("user", required: required) }

    mutating func userIDs(_ key: String) -> Set<UserID>? {
        object.userIDs(key, maximumCount: Self.maximumPeopleCount).map { Set($0) }
    }

    /// The people of a list, each an object or the bare id; of several with the same id the first counts.
    mutating func people(_ key: String, required: Bool = false) -> [Person] {
        let elements = object.array(key, required: required, maximumCount: Self.maximumPeopleCount)
        guard let elements else { return [] }
        if required && elements.isEmpty { object.refuse(key, "must not be empty") }
        let pointer = object.pointer(to: key)
        var people: [Person] = []
        people.reserveCapacity(elements.count)
        var seen = Set<UserID>(minimumCapacity: elements.count)
        for (index, element) in elements.enumerated() where !object.errors.isFull {
            let place = pointer + JSONPointer.step(index)
            let person: Person?
            if case .object = element {
                var reader = JSONObjectReader(element, at: place, unknown: .tolerate, into: object.errors)
                person = reader.person()
            } else {
                person = object.userID(element, at: place).map { Person(id: $0) }
            }
            if let person, seen.insert(person.id).inserted { people.append(person) }
        }
        return people
    }

    /// The message, which is required.
    mutating func message() -> Message? {
        guard var message = object.object("message", required: true) else { return nil }
        let text = message.string("text", maximumBytes: .max)
        let kind: Message.Kind =
            switch message.string("type", maximumBytes: .max) {
            case let name?: Message.Kind(rawValue: name) ?? .other
            case nil: text == nil ? .other : .text
            }
        let id = message.string("id", maximumBytes: Identifier<Message>.maximumBytes)
        var read = Message(id: id, kind: kind, text: text ?? "")
        guard isWhole else { return read }
        read.caption = message.string("caption", maximumBytes: .max)
        read.special = message.string("kind", maximumBytes: .max).flatMap(Message.Special.init)
        return read
    }

    /// Takes what keeps an event from people whom its kind concerns.
    mutating func limit(_ event: inout Event) {
        event.visibleTo = userIDs("visibleTo")
        // Not of the contract: what else a sender calls so is theirs.
        if case .array(let ids)? = object.value("hiddenFrom") {
            event.hiddenFrom = Set(ids.prefix(Self.maximumPeopleCount).compactMap { $0.text.flatMap { UserID($0) } })
        }
        event.isSilent = object.bool("notify") == false
    }
}
