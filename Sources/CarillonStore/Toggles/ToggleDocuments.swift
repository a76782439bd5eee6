import CarillonCore

/// Reads toggle documents, each distinct text once: most people who switch something off switch off the same.
struct ToggleDocuments {
    private var users: [String: UserToggles] = [:]
    private var channels: [String: ChannelToggles] = [:]

    mutating func user(_ text: String) throws(StoreError) -> UserToggles {
        if let known = users[text] { return known }
        let toggles = UserToggles(document: try Self.json(text))
        users[text] = toggles
        return toggles
    }

    mutating func channel(_ text: String) throws(StoreError) -> ChannelToggles {
        if let known = channels[text] { return known }
        let toggles = ChannelToggles(document: try Self.json(text))
        channels[text] = toggles
        return toggles
    }

    /// What a user has set, by the texts that there are.
    mutating func settings(user: String?, channel: String?) throws(StoreError) -> ToggleSettings {
        var settings = ToggleSettings()
        if let user { settings.user = try self.user(user) }
        if let channel { settings.channel = try self.channel(channel) }
        return settings
    }

    static func network(_ text: String) throws(StoreError) -> NetworkToggles {
        NetworkToggles(document: try json(text))
    }

    private static func json(_ text: String) throws(StoreError) -> JSONValue {
        do {
            return try JSONValue(parsing: text)
        } catch {
            throw .unreadable("toggle document")
        }
    }
}
