/// The shapes that events, directory and import share: people, channels and what describes them.
extension JSONObjectReader {
    /// A name to show: at most 1,000 bytes.
    package mutating func displayName(_ key: String = "displayName") -> String? {
        string(key, maximumBytes: 1000)
    }

    /// A language tag in the shape of BCP 47 (RFC 5646), in its usual spelling; whether it is registered is not checked.
    package mutating func locale(_ key: String = "locale") -> String? {
        guard let tag = string(key) else { return nil }
        guard let locale = LocaleTag(tag) else {
            refuse(key, "must be a language tag of BCP 47, such as th or pt-BR")
            return nil
        }
        return locale.rawValue
    }

    /// What a person is in a network: at most 100 roles of at most 256 bytes.
    package mutating func roles(_ key: String = "roles") -> [String]? {
        strings(key, maximumCount: 100, maximumBytes: 256)
    }

    /// A channel: `{"id","displayName"}`, of which the id is required.
    package mutating func channel(_ key: String, required: Bool = false) -> Channel? {
        guard var channel = object(key, required: required) else { return nil }
        let id = channel.identifier("id", as: Channel.self, required: true)
        let displayName = channel.displayName()
        channel.finish()
        return id.map { Channel(id: $0, displayName: displayName) }
    }

    /// A person: `{"id","displayName","locale","roles"}`, of which the id is required.
    package mutating func person(_ key: String, required: Bool = false) -> Person? {
        guard var person = object(key, required: required) else { return nil }
        return person.person()
    }

    /// This object itself as a person.
    mutating func person() -> Person? {
        let id = userID("id", required: true)
        let (displayName, locale, roles) = (displayName(), locale(), roles())
        finish()
        return id.map { Person(id: $0, displayName: displayName, locale: locale, roles: roles) }
    }
}
