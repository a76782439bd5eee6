extension FanoutWorker {
    /// Adds what endpoints are told of events, one row for all that one of them is told by this commit; answers what has a slot.
    func addMessages(
        to expansions: inout [Expansion],
        of events: [PendingEvent],
        for endpoints: [NetworkID: [Endpoint]],
        _ pages: [RecipientPage],
        readAt: ContinuousClock.Instant
    ) -> [LeasedGroup] {
        guard !endpoints.isEmpty, let first = pages.first?.readPoint else { return [] }
        let readPoints = Dictionary(zip(events.map(\.networkID), pages.map(\.readPoint))) { first, _ in first }
        var bundles = RelayBundles()
        for index in expansions.indices where events[index].cursor == nil {
            expansions[index].relay(to: endpoints[events[index].networkID] ?? [], ids: ids, bundles: &bundles)
        }
        var messages = expansions.flatMap(\.messages).joined
        let held = reserve(&messages, readAt: readAt) { readPoints[$0.lane.networkID] ?? first }
        let leased = Set(held.map(\.group.id))
        for index in expansions.indices {
            for part in expansions[index].messages.indices {
                expansions[index].messages[part].leased = leased.contains(expansions[index].messages[part].id)
            }
        }
        return held
    }

    /// Puts messages into their slots, less those about events that were not written.
    func submit(_ messages: [LeasedGroup], of written: [Expansion]) async {
        guard !messages.isEmpty else { return }
        let rows = written.flatMap(\.messages).joined
        let groups = Dictionary(rows.map { ($0.id, $0) }) { first, _ in first }
        func isWhole(_ message: LeasedGroup) -> Bool {
            groups[message.group.id]?.targets.count == message.group.targets.count
        }
        await sending.submit(messages.filter(isWhole))
        let others = messages.filter { !isWhole($0) }
        guard let first = others.first else { return }
        let readPoints = Dictionary(others.map { ($0.group.id, $0.readPoint) }) { first, _ in first }
        sending.cancel(others)
        var smaller = others.compactMap { groups[$0.group.id] }
        // What finds no room is claimed when its lease has run out.
        await sending.submit(reserve(&smaller, readAt: first.readAt) { readPoints[$0.id] ?? first.readPoint })
    }
}

extension Expansion {
    /// Adds what the endpoints of its network are told of the event, with its first page, as parts of `bundles`.
    fileprivate mutating func relay(to endpoints: [Endpoint], ids: UUIDv7Generator, bundles: inout RelayBundles) {
        keepsBody = endpoints.keepBody(of: event.event.type.rawValue, acceptedAt: event.receivedAt)
        messages = endpoints.relayGroups(
            telling: RelayedEvent(event.id, event.event.type, receivedAt: event.receivedAt),
            in: event.networkID,
            ids: ids,
            bundles: &bundles
        )
    }
}
