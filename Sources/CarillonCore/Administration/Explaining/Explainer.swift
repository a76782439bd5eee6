/// Explains by what the fan-out reads, judged and rendered by what it judges and renders with, so that it cannot lie.
///
/// Judges by the directory as it would be with this event accepted now, and changes nothing.
package struct Explainer: Sendable {
    private let recipients: any RecipientSource
    private let toggles: any ToggleStore
    private let catalog: TemplateCatalog
    private let endpoints: @Sendable (NetworkID) async throws -> [Endpoint]

    /// An explainer that reads `recipients`, renders with `catalog`, and finds in `toggles` when they were set; `endpoints`
    /// knows those of a network, none of which it asks.
    package init(
        recipients: any RecipientSource,
        toggles: any ToggleStore,
        catalog: TemplateCatalog,
        endpoints: @escaping @Sendable (NetworkID) async throws -> [Endpoint] = { _ in [] }
    ) {
        self.recipients = recipients
        self.toggles = toggles
        self.catalog = catalog
        self.endpoints = endpoints
    }

    package func explain(_ event: Event, to user: UserID, in network: NetworkID) async throws -> Explanation {
        let event = event.namingThroughout
        // Who is kept from an event that concerns them is told so, and not that they are no member.
        let unlimited = event.unlimited
        let query = RecipientQuery(networkID: network, prospect: unlimited, only: [user])
        let page = try await recipients.page(for: query)
        let documents = try await toggles.toggles(for: user, channel: event.channel?.id, in: network)
        let updatedAt = [
            ToggleLevel.network: documents.network.updatedAt, .user: documents.user.updatedAt,
            .channel: documents.channel.updatedAt,
        ]
        let judge = RecipientJudge(unlimited, page)
        // Nor is somebody no member because the channel has no name.
        let concerned = (judge.lacksName ? judge.meant(page.recipients) : judge.concerned(page.recipients)).first
        let person = concerned ?? (page.recipients + page.others).first ?? Recipient(userID: user)
        let devices = person.devices(for: event.direct?.content)
        var explanation = Explanation(
            levels: ToggleLevel.allCases.map { level in
                let objection = judge.objection(of: level, to: person)
                return Explanation.Level(level: level, allows: objection == nil, updatedAt: updatedAt[level] ?? nil)
            },
            notification: event.isSilent
                ? nil : judge.subject.map { notification($0, to: person, page.settings) },
            devices: devices
        )
        if event.isCaused(by: user) {
            explanation.decidedBy = .actor
        } else if concerned == nil {
            explanation.decidedBy = .notMember
        } else if let limit = event.limit(for: user) {
            explanation.decidedBy = .event
            explanation.reason = limit
        } else if judge.lacksName {
            explanation.decidedBy = .event
            explanation.reason = WhyNobody.noName.sentence
        } else if case .forbid(let level, let reason) = judge.decision(on: person) {
            explanation.decidedBy = Explanation.Stage(level)
            explanation.reason = reason.description
        } else if devices.isEmpty {
            explanation.decidedBy = .noDevice
        }
        if explanation.decidedBy == nil {
            explanation.interceptor = try await endpoints(network).interceptor(of: event).map { ($0.0.id, $0.1) }
        }
        return explanation
    }

    /// The text on the first device: others may be in other languages.
    private func notification(
        _ subject: NotificationSubject,
        to person: Recipient,
        _ settings: NetworkSettings
    ) -> Notification {
        var renderer = NotificationRenderer(subject, catalog: catalog, settings)
        let key = renderer.template(deviceLocale: person.devices.first?.locale, userLocale: person.locale)
        return renderer.notification(for: key)
    }
}

extension Event {
    /// The event with each person named wherever they stand as they are named in one place: when it is accepted, the directory learns it.
    fileprivate var namingThroughout: Event {
        let all = [actor].compactMap(\.self) + people + invited + existingMembers + members
        let names = Dictionary(all.compactMap { one in one.displayName.map { (one.id, $0) } }) { $1 }
        func named(_ person: Person) -> Person {
            var person = person
            person.displayName = person.displayName ?? names[person.id]
            return person
        }
        var event = self
        event.actor = actor.map(named)
        event.members = members.map(named)
        event.existingMembers = existingMembers.map(named)
        event.people = people.map(named)
        event.invited = invited.map(named)
        return event
    }

    /// The field by which it is kept from a user.
    fileprivate func limit(for user: UserID) -> String? {
        if isSilent { return "notify" }
        if hiddenFrom.contains(user) { return "hiddenFrom" }
        return visibleTo.map { $0.contains(user) } == false ? "visibleTo" : nil
    }
}
