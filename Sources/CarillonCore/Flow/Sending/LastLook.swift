/// Asks the toggles and the device list once more, just before a group is handed to its provider.
struct LastLook: Sendable {
    private let settlements: any SettlementSink

    /// A last look that has what may not be sent any more written down by `settlements`.
    init(settlements: any SettlementSink) {
        self.settlements = settlements
    }

    /// What may still be sent of a group; the rest is written down.
    func look(at refreshed: RefreshedGroup) -> DeliveryGroup {
        let (group, records) = Self.verdict(on: refreshed)
        guard !records.isEmpty || group.targets.isEmpty else { return group }
        let rest = Remainder(targets: group.targets, attempt: group.attempt, delay: nil)
        let remainders = group.targets.isEmpty ? [] : [rest]
        settlements.submit(Settlement(group: refreshed.group, records: records, remainders: remainders))
        return group
    }

    /// What may still be sent of a group, and what is written down of the rest.
    ///
    /// - Parameter refreshed: The group as the database has it now.
    /// - Returns: The group with the targets that may be sent to, and the records of the others.
    static func verdict(on refreshed: RefreshedGroup) -> (group: DeliveryGroup, records: [DeviceRecord]) {
        var group = refreshed.group
        let (now, attempts) = (refreshed.readPoint.moment, group.attempt)
        func record(_ target: Target, _ state: DeliveryState, _ reason: String) -> DeviceRecord {
            DeviceRecord(target, state, attempts: attempts, reason: reason, at: now)
        }
        var records = refreshed.gone.map { record($0, .unregistered, "no longer registered for this user") }
        guard group.expiresAt > now, refreshed.withdrawal == nil else {
            let reason = refreshed.withdrawal?.rawValue ?? "not delivered in time"
            records += group.targets.map { record($0, .expired, reason) }
            group.targets = []
            return (group, records)
        }
        // No switch is about endpoints.
        guard case .devices(var sent) = group.payload else { return (group, records) }
        sent.allowedUntil = nil
        let question = ToggleQuestion(
            eventType: group.cause.eventType,
            module: group.cause.module,
            actorRoles: group.cause.actorRoles
        )
        let evaluator = ToggleEvaluator(network: refreshed.networkToggles, question: question, now: now)
        group.targets = refreshed.group.targets.filter { target in
            let settings = refreshed.settings[target.userID] ?? ToggleSettings()
            let mentioned = refreshed.group.cause.isMentioning(target.userID)
            guard case .forbid(let level, let reason) = evaluator.decide(settings, mentioned: mentioned) else {
                sent.allowedUntil = .earlier(sent.allowedUntil, evaluator.allowedUntil(settings))
                return true
            }
            records.append(record(target, .suppressed, "\(level.rawValue): \(reason)"))
            return false
        }
        group.payload = .devices(sent)
        return (group, records)
    }
}
