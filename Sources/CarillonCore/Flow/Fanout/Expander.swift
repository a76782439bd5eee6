/// Turns one page of an event's recipients into deliveries: toggles, then rendering, then groups by lane and text.
package struct Expander: Sendable {
    private let catalog: TemplateCatalog
    private let ids: UUIDv7Generator

    /// An expander that renders with `catalog`; `ids` makes the ids of groups.
    package init(catalog: TemplateCatalog, ids: UUIDv7Generator) {
        self.catalog = catalog
        self.ids = ids
    }

    /// Expands one page. An event that lacks what its type must carry notifies nobody, and so does the rest of one that was
    /// withdrawn. Devices of apps that `faces` knows as another system's get what those read, too.
    package func expand(_ pending: PendingEvent, _ page: RecipientPage, faces: FaceIndex? = nil) -> Expansion {
        var event = pending
        let judge = RecipientJudge(pending.event, page)
        guard !pending.isWithdrawn, !page.isDeleted, let subject = judge.subject else {
            var expansion = Expansion(event: event, after: pending.cursor, groups: [], next: nil)
            if !pending.isWithdrawn, judge.lacksName { expansion.why = .noName }
            return expansion
        }
        var cause = DeliveryCause(
            eventID: pending.id,
            eventType: pending.event.type,
            module: judge.question.module,
            channel: pending.event.channel.map { channel in
                let name = channel.known(stored: page.names.channel).knownName
                return Channel(id: channel.id, displayName: name?.isEmpty == true ? nil : name)
            },
            message: pending.event.messageKey,
            actorRoles: judge.question.actorRoles,
            mentions: pending.event.mentions,
            mentionsAll: pending.event.mentionsAll,
            receivedAt: pending.receivedAt
        )
        cause.trace = pending.event.trace
        if let message = pending.event.message {
            cause.messageID = message.id.flatMap { $0.isEmpty ? nil : $0 }
            cause.senderID = pending.event.actor?.id
        }
        var grouping = Grouping(networkID: pending.networkID, cause: cause, ids: ids)
        var renderer = NotificationRenderer(subject, catalog: catalog, page.settings)
        let content = pending.event.direct?.content
        let verdict = pending.verdict
        let sent = verdict.map { $0.changes.edited(content) } ?? content
        for recipient in judge.concerned(page.recipients) {
            let decision = judge.decision(on: recipient)
            let devices = recipient.devices(for: content)
            if decision == .allow, verdict?.withholds(from: recipient.userID) == true {
                event.tally.resolved += 1
                event.tally.intercepted += 1
                continue
            }
            event.tally.count(decision, hasDevice: !devices.isEmpty)
            guard decision == .allow else { continue }
            let allowedUntil = judge.allowedUntil(recipient)
            for device in devices {
                let key = renderer.template(deviceLocale: device.locale, userLocale: recipient.locale)
                grouping.add(device, key, of: devices.count, allowedUntil: allowedUntil)
            }
        }
        event.cursor = page.next
        lazy var buzz = BuzzPayload(pending.event, page.names)
        var expansion = Expansion(
            event: event,
            after: pending.cursor,
            groups: grouping.groups { key, lane in
                let notification = renderer.notification(for: key)
                let isBuzz = faces?.isBuzz(lane.provider, lane.appID, in: lane.networkID) ?? false
                return Push(
                    verdict?.changes.edited(notification) ?? notification,
                    content: isBuzz ? buzz?.added(to: sent, for: lane.provider) ?? sent : sent
                )
            },
            next: page.next
        )
        if page.next == nil, event.tally.resolved == 0 {
            expansion.why = WhyNobody(pending.event, page, isFirst: expansion.isFirst)
        }
        return expansion
    }

    /// The text for those who have said no language; `nil` when nobody is notified.
    package func usualText(of pending: PendingEvent, _ page: RecipientPage) -> Notification? {
        guard let subject = RecipientJudge(pending.event, page).subject else { return nil }
        var renderer = NotificationRenderer(subject, catalog: catalog, page.settings)
        return renderer.notification(for: renderer.template(for: []))
    }
}

extension RecipientTally {
    mutating func count(_ decision: Decision, hasDevice: Bool) {
        resolved += 1
        switch decision {
        case .allow where hasDevice: notified += 1
        case .allow: noDevice += 1
        case .forbid(let level, _): suppressed[level, default: 0] += 1
        }
    }
}

extension Target {
    package init(_ device: Device) {
        self.init(
            deviceID: device.id,
            userID: device.userID,
            .device(device.address, registeredAt: device.registeredAt, hasError: device.error != nil)
        )
    }
}

/// Collects targets that go through the same lane with the same text.
private struct Grouping {
    private struct Key: Hashable {
        var provider: ProviderName
        var appID: String
        var template: TemplateKey
    }

    private let networkID: NetworkID
    private let cause: DeliveryCause
    private let ids: UUIDv7Generator
    private var targets: [Key: [Target]] = [:]
    private var allowedUntil: [Key: Timestamp] = [:]
    /// Of those who have several.
    private var deviceCounts: [UserID: Int] = [:]
    private var order: [Key] = []

    init(networkID: NetworkID, cause: DeliveryCause, ids: UUIDv7Generator) {
        self.networkID = networkID
        self.cause = cause
        self.ids = ids
    }

    mutating func add(_ device: Device, _ template: TemplateKey, of count: Int, allowedUntil end: Timestamp?) {
        if count > 1 { deviceCounts[device.userID] = count }
        let key = Key(provider: device.address.provider, appID: device.address.appID, template: template)
        if targets[key] == nil { order.append(key) }
        targets[key, default: []].append(Target(device))
        if let end { allowedUntil[key] = .earlier(allowedUntil[key], end) }
    }

    func groups(_ push: (TemplateKey, Lane) -> Push) -> [DeliveryGroup] {
        order.flatMap { key in
            let targets = targets[key] ?? []
            let lane = Lane(networkID: networkID, provider: key.provider, appID: key.appID)
            var sent = DevicePush(push(key.template, lane), allowedUntil: allowedUntil[key])
            return stride(from: 0, to: targets.count, by: DeliveryGroup.maximumTargets).map { start in
                let share = Array(targets[start..<min(start + DeliveryGroup.maximumTargets, targets.count)])
                sent.deviceCounts = deviceCounts(of: share)
                return DeliveryGroup(
                    id: ids.next(),
                    lane: lane,
                    cause: cause(for: share),
                    payload: .devices(sent),
                    targets: share,
                    leased: false
                )
            }
        }
    }

    private func deviceCounts(of targets: [Target]) -> [UserID: Int] {
        guard !deviceCounts.isEmpty else { return [:] }
        var counts: [UserID: Int] = [:]
        for target in targets { counts[target.userID] = deviceCounts[target.userID] }
        return counts
    }

    /// The cause with only those mentions that a group has a use for.
    private func cause(for targets: [Target]) -> DeliveryCause {
        guard !cause.mentions.isEmpty else { return cause }
        var cause = cause
        cause.mentions = Set(targets.lazy.map(\.userID).filter(self.cause.mentions.contains))
        return cause
    }
}
