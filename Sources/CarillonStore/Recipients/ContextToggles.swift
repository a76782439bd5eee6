import CarillonCore
import Postgres

/// What people have set for the channel that a notification belongs to, where they are the members of another one: pages hold what they
/// have set for that.
struct ContextToggles {
    private struct Name {
        var position: Int
        var channel: ChannelKey
        var user: UserID
    }

    private var names: [Name] = []
    private var found: [Int: [UserID: ChannelToggles]] = [:]

    init(_ pages: [RecipientPage], of queries: [RecipientQuery]) {
        for (position, (page, query)) in zip(pages, queries).enumerated() {
            guard let channel = query.contextElsewhere else { continue }
            found[position] = [:]
            names += (page.recipients + page.others).map {
                Name(position: position, channel: channel, user: $0.userID)
            }
        }
    }

    /// What reads them; `nil` where there is nobody to ask about.
    var statement: SQL? {
        guard !names.isEmpty else { return nil }
        return """
            SELECT p.position, p.user_id, m.toggles
            FROM unnest(\(names.map(\.position)), \(names.map(\.channel.network.rawValue)),
                        \(names.map(\.channel.channel.rawValue)), \(names.map(\.user.rawValue)))
                AS p (position, network_id, channel_id, user_id)
            \(sql: DeviceRow.owner("p.user_id"))
            WHERE m.toggles IS NOT NULL
            """
    }

    mutating func take(_ answer: StatementResult) throws {
        var documents = ToggleDocuments()
        try answer.forEach { row in
            let (position, user) = (try row.decode(0, as: Int.self), try row.id(1) as UserID)
            found[position]?[user] = try documents.channel(try row.decode(2))
        }
    }

    /// The pages with what was read.
    func applied(to pages: [RecipientPage]) -> [RecipientPage] {
        pages.enumerated().map { position, page in
            guard let settings = found[position] else { return page }
            var page = page
            for people in [\RecipientPage.recipients, \.others] {
                for index in page[keyPath: people].indices {
                    let user = page[keyPath: people][index].userID
                    page[keyPath: people][index].settings.channel = settings[user] ?? ChannelToggles()
                }
            }
            return page
        }
    }
}

extension RecipientQuery {
    /// The channel that the event belongs to, where it is meant for the members of another one.
    var contextElsewhere: ChannelKey? {
        guard case .members(let told) = audience, let context = channelKey, context.channel != told else { return nil }
        return context
    }

    /// The channel whose members are meant, or else the one that the event belongs to.
    var channelOfMembers: ChannelKey {
        guard case .members(let told) = audience else { return channelOrNone }
        return ChannelKey(network: networkID, channel: told)
    }
}
