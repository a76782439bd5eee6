/// The shapes that events, directory and import share: people, channels and what describes them.
///
/// A tolerant reader, that of an event, refuses nobody's event for a description that goes too far: a notification is
/// worth more than a name that is whole.
extension JSONObjectReader {
    /// A name to show: at most 1,000 bytes; a tolerant reader cuts what is longer.
    package mutating func displayName(_ key: String = "displayName") -> String? {
        guard isTolerant else { return string(key, maximumBytes: Person.longestName) }
        return string(key, maximumBytes: .max)?.beginning(ofBytes: Person.longestName)
    }

    /// A language tag in the shape of BCP 47 (RFC 5646), in its usual spelling; whether it is registered is not checked. A
    /// tolerant reader passes over anything else.
    package mutating func locale(_ key: String = "locale") -> String? {
        if isTolerant {
            guard case .string(let tag)? = value(key) else { return nil }
            return LocaleTag(tag)?.rawValue
        }
        guard let tag = string(key) else { return nil }
        guard let locale = LocaleTag(tag) else {
            refuse(key, "must be a language tag of BCP 47, such as th or pt-BR")
            return nil
        }
        return locale.rawValue
    }

    /// What a person is in a network: at most 100 roles of at most 256 bytes; a tolerant reader takes the first of those
    /// that are not longer.
    package mutating func roles(_ key: String = "roles") -> [String]? {
        guard isTolerant else {
            return strings(key, maximumCount: Person.mostRoles, maximumBytes: Person.longestRole)
        }
        let roles = strings(key, maximumCount: .max, maximumBytes: .max)
        return roles.map { Array($0.filter { $0.utf8.count <= Person.longestRole }.prefix(Person.mostRoles)) }
    }

    /// A channel: `{"id","displayName","fallbackName","direct"}`, of which the id is required.
    ///
    /// - Parameters:
    ///   - key: Where it stands.
    ///   - required: Whether it must be there.
    ///   - isWhole: Whether to read more than id and name: anything else was any sender's own member once.
    /// - Returns: The channel; `nil` when it is absent or wrong.
    package mutating func channel(_ key: String, required: Bool = false, isWhole: Bool = true) -> Channel? {
        guard var channel = object(key, required: required) else { return nil }
        let id = channel.identifier("id", as: Channel.self, required: true)
        let displayName = isWhole ? channel.channelName() : channel.displayName()
        // Only events know of it: what an admin says is no fallback. What else a sender calls so is theirs.
        var fallbackName: String?
        if isWhole, isTolerant {
            let isName =
                if case .string? = channel.value("fallbackName") { true } else { channel.isNull("fallbackName") }
            if isName { fallbackName = channel.channelName("fallbackName") }
        }
        let isDirect = isWhole ? channel.bool("direct") : nil
        channel.finish()
        return id.map { Channel(id: $0, displayName: displayName, fallbackName: fallbackName, isDirect: isDirect) }
    }

    /// The name of a channel, as of ``displayName(_:)``; empty where it is `null` or blank, which states that there is none.
    package mutating func channelName(_ key: String = "displayName") -> String? {
        guard isNull(key) else { return displayName(key).map { $0.isBlank ? "" : $0 } }
        _ = value(key)
        return ""
    }

    /// A person: `{"id","displayName","locale","roles"}`, of which the id is required.
    package mutating func person(_ key: String, required: Bool = false) -> Person? {
        guard var person = object(key, required: required) else { return nil }
        return person.person()
    }

    /// This object itself as a person. An event that calls somebody by a blank name says nothing of what they are called.
    mutating func person() -> Person? {
        let id = userID("id", required: true)
        let (displayName, locale, roles) = (displayName(), locale(), roles())
        finish()
        let name = isTolerant && displayName?.isBlank == true ? nil : displayName
        return id.map { Person(id: $0, displayName: name, locale: locale, roles: roles) }
    }
}

extension String {
    /// As many whole characters as fit into so many bytes of UTF-8; `nil` when not even one does.
    package func beginning(ofBytes limit: Int) -> String? {
        guard utf8.count > limit else { return self }
        var end = startIndex
        var size = 0
        while end < endIndex {
            let next = index(after: end)
            size += utf8.distance(from: end, to: next)
            if size > limit { break }
            end = next
        }
        return end == startIndex ? nil : String(self[..<end])
    }
}
