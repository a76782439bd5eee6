/// What the directory knows of the channel and the people that an event names; the event's own words go before it.
package struct DirectoryNames: Sendable, Equatable {
    package var channel: String?
    /// Whether the channel is a conversation of two.
    package var isDirect: Bool
    package var people: [UserID: String]
    package var roles: [UserID: [String]]

    package init(
        channel: String? = nil,
        isDirect: Bool = false,
        people: [UserID: String] = [:],
        roles: [UserID: [String]] = [:]
    ) {
        self.channel = channel
        self.isDirect = isDirect
        self.people = people
        self.roles = roles
    }

    /// What a person is called: as the event says, else as is known here, else by the id. A name must not be blank.
    package func name(of person: Person) -> String {
        for case let name? in [person.displayName, people[person.id]] where !name.isBlank { return name }
        return person.id.rawValue
    }
}
