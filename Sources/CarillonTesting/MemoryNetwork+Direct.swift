import CarillonCore

extension DirectNotification {
    /// Whether it goes to those who are in its channel, as events do.
    var isForMembers: Bool { if case .members = audience { true } else { false } }
}

extension MemoryNetwork {
    /// A page of a direct notification's audience: users, then devices that count by themselves.
    func directPage(_ direct: DirectNotification, _ query: RecipientQuery, at readPoint: ReadPoint) -> RecipientPage {
        var page = RecipientPage(
            settings: settings,
            names: names(in: query.event),
            recipients: [],
            readPoint: readPoint
        )
        let people = audience(of: direct, query).filter { person in
            switch query.after {
            case nil: true
            case .user(let last): person.userID.isNobody || last < person.userID
            case .device(let last): person.userID.isNobody && (person.devices.first.map { last < $0.id } ?? false)
            }
        }
        let limit = query.after == nil ? firstRecipientPageSize : recipientPageSize
        page.recipients = filtered(Array(people.prefix(limit)), query)
        if people.count > limit {
            let last = people[limit - 1]
            page.next = last.userID.isNobody ? last.devices.first.map { .device($0.id) } : .user(last.userID)
        }
        return page
    }

    /// Those whom the notification's own filter leaves.
    func filtered(_ people: [Recipient], _ query: RecipientQuery) -> [Recipient] {
        query.event.direct?.filtered(people, subscribes: isSubscribed(_:to:)) ?? people
    }

    /// Adds what nobody registered.
    mutating func addTransient(_ named: [AddressedDevice], at now: Timestamp) {
        for one in named where !devices.values.contains(where: one.isReached) {
            let id = DeviceID(reachedAt: one.address)
            devices[id] = Device(
                id: id,
                userID: .nobody,
                address: one.address,
                locale: one.locale,
                error: "not delivered to yet",
                registeredAt: now,
                obtainedAt: one.obtainedAt
            )
            transientDevices.insert(id)
        }
    }

    /// When a device's address was obtained, as far as anybody knows.
    func obtainedAt(_ device: Device) -> Timestamp {
        device.obtainedAt ?? (transientDevices.contains(device.id) ? .epoch : device.registeredAt)
    }

    private func audience(of direct: DirectNotification, _ query: RecipientQuery) -> [Recipient] {
        let mark = query.eventID.flatMap { inbox[$0]?.mark } ?? .max
        let owners = Set(devices.values.map(\.userID).filter { !$0.isNobody })
        let ownerless = devices.values.filter { $0.userID.isNobody && $0.state == .active }.sorted { $0.id < $1.id }
            .map { Recipient(userID: .nobody, devices: [$0]) }
        switch direct.audience {
        case .people(let users):
            return Set(users).sorted().map { recipient($0, in: query.event.channel?.id) }
        case .devices(let ids):
            let known = ids.compactMap { devices[$0] }.filter { $0.state == .active }
            let missing = ids.count - known.count
            return people(known.map(\.userID), direct, query)
                + ownerless.filter { direct.share(of: $0, isMember: false, subscribes: isSubscribed(_:to:)) != nil }
                + Array(repeating: Recipient(userID: .nobody), count: missing)
        case .addresses:
            let known = devices.values.filter { device in
                direct.share(of: Recipient(userID: .nobody, devices: [device]), isMember: false) { _, _ in false }
                    != nil
            }
            return people(known.map(\.userID), direct, query)
                + ownerless.filter { direct.share(of: $0, isMember: false, subscribes: isSubscribed(_:to:)) != nil }
        case .everyone, .tags:
            let users = Set(
                subscriptions.values.flatMap(\.keys).compactMap { subscriber in
                    if case .user(let user) = subscriber { user } else { nil }
                }
            )
            let wasSubscribed = { (subscriber: Subscriber, tag: TagID) in
                isSubscribed(subscriber, to: tag) && (subscriptions[tag]?[subscriber] ?? .max) < mark
            }
            let all = owners.union(users).sorted().map { recipient($0, in: query.event.channel?.id) } + ownerless
            return all.compactMap { person in
                guard !isTransient(person) || direct.audience != .everyone else { return nil }
                return direct.share(of: person, isMember: false, subscribes: wasSubscribed)
            }
        case .members, .nobody, .users:
            return []
        }
    }

    private func isTransient(_ person: Recipient) -> Bool {
        person.devices.contains { transientDevices.contains($0.id) }
    }

    private func people(
        _ users: [UserID],
        _ direct: DirectNotification,
        _ query: RecipientQuery
    ) -> [Recipient] {
        Set(users).filter { !$0.isNobody }.sorted().map { user in
            let person = recipient(user, in: query.event.channel?.id)
            if let share = direct.share(of: person, isMember: false, subscribes: isSubscribed(_:to:)) { return share }
            return Recipient(userID: user, locale: person.locale, settings: person.settings)
        }
    }
}
