import CarillonCore

/// Explains by the very evaluator and renderer that the fan-out uses, so that it cannot lie.
///
/// Judges by the directory as it is, with the event's own names, members and roles on top, and changes nothing.
struct Explainer: Sendable {
    private static let maximumDevices = 1000

    let names: NameLookup
    let devices: any DeviceStore
    let toggles: any ToggleStore
    let templates: any TemplateStore
    let catalog: TemplateCatalog
    let clock: WallClock

    func explain(_ event: Event, to user: UserID, in network: Network) async throws -> Explanation {
        let known = try await names.names(of: event, in: network.id)
        let active = try await activeDevices(of: user, in: network.id)
        let documents = try await toggles.toggles(for: user, channel: event.channel?.id, in: network.id)
        let evaluator = ToggleEvaluator(
            network: NetworkToggles(document: documents.network.document),
            question: ToggleQuestion(event: event, names: known),
            now: clock.now()
        )
        let settings = ToggleSettings(
            user: UserToggles(document: documents.user.document),
            channel: ChannelToggles(document: documents.channel.document)
        )
        let mentioned = event.mentions.contains(user)
        let updatedAt = [
            ToggleLevel.network: documents.network.updatedAt, .user: documents.user.updatedAt,
            .channel: documents.channel.updatedAt,
        ]
        var explanation = Explanation(
            levels: ToggleLevel.allCases.map { level in
                let objection = evaluator.objection(of: level, settings, mentioned: mentioned)
                return .init(level: level, allows: objection == nil, updatedAt: updatedAt[level] ?? nil)
            },
            notification: try await notification(of: event, known, to: user, on: active, in: network),
            devices: active
        )
        if event.isCaused(by: user) {
            explanation.decidedBy = .actor
        } else if try await !concerns(event, user, in: network.id) {
            explanation.decidedBy = .notMember
        } else if case .forbid(let level, let reason) = evaluator.decide(settings, mentioned: mentioned) {
            explanation.decidedBy = .init(level)
            explanation.reason = reason
        } else if active.isEmpty {
            explanation.decidedBy = .noDevice
        }
        return explanation
    }

    /// Whether the event is about something that this user is told of (the table of API section 3).
    private func concerns(_ event: Event, _ user: UserID, in networkID: NetworkID) async throws -> Bool {
        guard event.type.notifies, let channel = event.channel, !event.unconcerned.contains(user) else { return false }
        if event.type == .channelCreated { return event.members.contains { $0.id == user } }
        return try await names.isMember(user, of: channel.id, in: networkID)
    }

    /// The text on the user's first device: others may be in other languages.
    private func notification(
        of event: Event,
        _ known: DirectoryNames,
        to user: UserID,
        on devices: [Device],
        in network: Network
    ) async throws -> Notification? {
        guard let subject = NotificationSubject(event: event, names: known) else { return nil }
        let person = try await names.directory.user(user, in: network.id)
        let overrides = try await templates.templates(in: network.id).compactMap(\.compiled)
        return catalog.render(
            subject,
            locales: [devices.first?.locale, person?.locale].compactMap(\.self),
            networkDefault: network.defaultLocale,
            overrides: TemplateOverrides(overrides)
        )
    }

    private func activeDevices(of user: UserID, in networkID: NetworkID) async throws -> [Device] {
        try await devices.devices(of: user, in: networkID, after: nil, limit: Self.maximumDevices)
            .filter { $0.state == .active }
    }
}
