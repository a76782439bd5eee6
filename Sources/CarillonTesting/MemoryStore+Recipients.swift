package import CarillonCore

extension MemoryStore: RecipientSource {
    /// One page of recipients for each of the first queries, in their order; at least for the first one.
    package func recipients(for queries: [RecipientQuery]) async throws -> [RecipientPage] {
        try withState { state in
            var pages: [RecipientPage] = []
            var total = 0
            let readPoint = ReadPoint(state.readPoint, moment: clock.now())
            for query in queries where total < recipientPageSize {
                if query.after != nil, !pages.isEmpty { break }
                guard var network = state.networks[query.networkID] else { throw UnknownNetwork() }
                if query.only == nil, case .addresses(let devices) = query.audience {
                    network.addTransient(devices, at: readPoint.moment)
                    state.networks[query.networkID] = network
                }
                let page = network.page(for: query, at: readPoint)
                total += page.recipients.count
                pages.append(page)
                if query.after != nil { break }
            }
            return pages
        }
    }
}

extension MemoryNetwork {
    fileprivate func page(for query: RecipientQuery, at readPoint: ReadPoint) -> RecipientPage {
        if let only = query.only { return prospect(query, of: only, at: readPoint) }
        if let direct = query.event.direct, !direct.isForMembers { return directPage(direct, query, at: readPoint) }
        var answer = page(of: query, at: readPoint)
        answer.membersFromBefore = membersFromBefore(query)
        answer.formerMembers = formerMembers(query)
        let deletedAt =
            query.eventID == nil || query.event.type != .messageSent
            ? nil : query.event.messageKey.flatMap { deletedMessages[$0] }
        let received = query.eventID.map { Timestamp(milliseconds: $0.milliseconds) } ?? query.event.timestamp
        answer.isDeleted = deletedAt.map { min(query.event.timestamp, received) <= $0 } ?? false
        return answer
    }

    /// Those of an event's joiners who were members before it.
    private func membersFromBefore(_ query: RecipientQuery) -> Set<UserID> {
        guard let channel = query.event.channel?.id else { return [] }
        let mark = query.eventID.flatMap { inbox[$0]?.mark }
        return Set(
            query.event.questionedMembers.filter { user in
                guard let member = members[MemoryMemberKey(channel: channel, user: user)] else { return false }
                return mark.map { member.since < $0 } ?? member.isMember
            }
        )
    }

    /// Who was a member of its channel before an event.
    private func formerMembers(_ query: RecipientQuery) -> FormerMembers {
        guard case .members(let channel) = query.audience else { return .some }
        let mark = query.eventID.flatMap { inbox[$0]?.mark } ?? .max
        if memberIDs(of: channel).contains(where: { isMember($0, of: channel) { $0 < mark } }) { return .some }
        let known = channels[channel]?.channel
        return known?.displayName == nil && known?.isDirect == nil ? .noChannel : .nobody
    }

    private func page(of query: RecipientQuery, at readPoint: ReadPoint) -> RecipientPage {
        let users = concerned(by: query).sorted().filter { id in query.after.map { $0.precedes(id) } ?? true }
        let share = users.prefix(query.after == nil ? firstRecipientPageSize : recipientPageSize)
        return RecipientPage(
            settings: settings,
            names: names(in: query.event),
            recipients: filtered(share.map { recipient($0, in: query.event.channel?.id) }, query),
            next: share.count < users.count ? share.last.map(PageCursor.user) : nil,
            readPoint: readPoint
        )
    }

    /// The page of some people after taking in the event, in a copy that nobody sees.
    private func prospect(_ query: RecipientQuery, of users: Set<UserID>, at readPoint: ReadPoint) -> RecipientPage {
        var network = self
        if query.event.type == .channelCreated || query.event.type == .messageSent
            || !query.event.existingMembers.isEmpty
        {
            let incoming = IncomingEvent(
                networkID: query.networkID,
                id: EventID(UUIDv7Generator().next()),
                receivedAt: readPoint.moment,
                event: query.event,
                body: [],
                leased: false
            )
            network.learn(from: incoming, mark: network.nextMark())
        }
        var concerned = Set(network.concerned(by: query))
        var people = users.sorted().map { network.recipient($0, in: query.event.channel?.id) }
        if let direct = query.event.direct {
            let shares = people.compactMap { person in
                direct.share(
                    of: person,
                    isMember: concerned.contains(person.userID),
                    subscribes: network.isSubscribed(_:to:)
                )
            }
            let known = Dictionary(uniqueKeysWithValues: network.filtered(shares, query).map { ($0.userID, $0) })
            concerned = Set(known.keys)
            people = people.map { known[$0.userID] ?? $0 }
        }
        var page = RecipientPage(
            settings: settings,
            names: names(in: query.event),
            recipients: people.filter { concerned.contains($0.userID) },
            others: people.filter { !concerned.contains($0.userID) },
            readPoint: readPoint
        )
        page.membersFromBefore = membersFromBefore(query)
        return page
    }

    var networkToggles: NetworkToggles { NetworkToggles(document: toggles.versioned.document) }

    var settings: NetworkSettings {
        let overrides = templates.values.compactMap { template in
            LocaleTag(template.locale).flatMap {
                try? CompiledTemplate(template.source, for: template.eventType, locale: $0)
            }
        }
        return NetworkSettings(
            toggles: networkToggles,
            defaultLocale: network.defaultLocale,
            templates: TemplateOverrides(overrides)
        )
    }

    /// Members who were members before the event, or whom it made ones; nobody is told of their own joining.
    private func concerned(by query: RecipientQuery) -> [UserID] {
        let mark = query.eventID.flatMap { inbox[$0]?.mark } ?? .max
        let isOfThoseBefore = query.event.type == .memberJoined && query.event.existingMembers.isEmpty
        let isMeant = { (since: Int) in since < mark || since == mark && !isOfThoseBefore }
        switch query.audience {
        case .people(let users) where query.event.direct == nil:
            let invited = Set(query.event.invited.map(\.id))
            return Set(users).filter { user in
                invited.contains(user)
                    || query.event.channel.map { isMember(user, of: $0.id, since: isMeant) } ?? false
            }
        case .nobody, .people, .devices, .tags, .everyone, .addresses:
            return []
        case .members(let channel):
            return memberIDs(of: channel).filter { user in isMember(user, of: channel, since: isMeant) }
        case .users(let users, let channel):
            return Set(users).filter { user in isMember(user, of: channel, since: isMeant) }
        }
    }

    private func isMember(_ user: UserID, of channel: ChannelID, since condition: (Int) -> Bool) -> Bool {
        guard let member = members[MemoryMemberKey(channel: channel, user: user)], member.isMember else { return false }
        return knownUser(user) != nil && condition(member.since)
    }

    func recipient(_ user: UserID, in channel: ChannelID?) -> Recipient {
        Recipient(
            userID: user,
            locale: users[user]?.person.locale,
            settings: settings(of: user, in: channel),
            devices: devices.values.filter { $0.userID == user && $0.state == .active }.sorted { $0.id < $1.id }
        )
    }

    func names(in event: Event) -> DirectoryNames {
        var names = DirectoryNames(
            channel: event.unnamedChannel.flatMap { channels[$0]?.channel.knownName },
            isDirect: event.undescribedChannel.flatMap { channels[$0]?.channel.isDirect } ?? false
        )
        for person in event.unnamedPeople {
            names.people[person] = users[person]?.person.displayName
            names.roles[person] = users[person]?.person.roles
        }
        return names
    }
}

extension PageCursor {
    /// Whether a user stands behind it.
    fileprivate func precedes(_ user: UserID) -> Bool {
        switch self {
        case .user(let last): last < user
        case .device: false
        }
    }
}
