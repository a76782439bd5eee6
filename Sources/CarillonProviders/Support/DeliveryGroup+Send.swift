import CarillonCore

/// A credential, and whether it is still the one to send with.
package struct CurrentCredential<Value: Sendable>: Sendable {
    package let value: Value
    /// Asked right before something is sent with it.
    package let isCurrent: @Sendable () -> Bool
    /// Told that what was sent with it has surely not been processed.
    var whenNotProcessed: @Sendable () -> Void = {}
}

/// Why nothing is sent to any device of a group.
struct Refusal: Error {
    let outcome: Outcome

    init(_ outcome: Outcome) { self.outcome = outcome }
}

extension DeliveryGroup {
    /// Sends to all targets with the credential of their lane, as ``sendToEach(atMost:while:report:send:)`` does. Without one
    /// nothing is sent, and the lane is to be left alone for a while; for a moment only where nobody could read it.
    ///
    /// `begin` prepares what all targets share, and answers what sends to one of them.
    func send<Credential>(
        with credentials: RememberedCredentials<Credential>,
        atMost concurrency: Int,
        while isWanted: @Sendable @escaping () -> Bool = { true },
        report: @Sendable @escaping (Target, Outcome) -> Void,
        begin: (CurrentCredential<Credential>) async throws(Refusal) -> @Sendable (Target) async -> Outcome?
    ) async {
        let outcome: Outcome
        do {
            guard let current = try await credentials.credential(of: lane.networkID, for: lane.app ?? "") else {
                throw Refusal(.deferLane(after: nil, reason: "no credential for \(lane.app ?? lane.provider.rawValue)"))
            }
            let send = try await begin(current)
            return await sendToEach(
                atMost: concurrency,
                while: { current.isCurrent() && isWanted() },
                report: report,
                send: send
            )
        } catch let refusal as Refusal {
            outcome = refusal.outcome
        } catch {
            outcome = .deferLane(after: .seconds(5), reason: "credential not readable", isOurs: true)
        }
        guard !Task.isCancelled else { return }
        for target in targets { report(target, outcome) }
    }

    /// Sends to all targets, a few at a time, until it turns out that nothing in the lane can succeed.
    ///
    /// Then the rest is reported at once with the same outcome without being sent, and what is on its way with its own.
    /// Every target is reported exactly once, unless the task is cancelled or the group not wanted any more: then nothing more
    /// is begun, and what is on its way is waited for.
    /// `send` answers `nil` for a target that has not been sent to and is to stay unreported.
    func sendToEach(
        atMost concurrency: Int,
        while isWanted: @Sendable @escaping () -> Bool = { true },
        report: @Sendable @escaping (Target, Outcome) -> Void,
        send: @Sendable @escaping (Target) async -> Outcome?
    ) async {
        var unsent = targets[...]
        // Child tasks run on the global executor, whoever calls: what they compute takes no event loop's time.
        await withTaskGroup(of: Outcome?.self) { tasks in
            var running = 0
            while true {
                while running < concurrency, !Task.isCancelled, isWanted(), let target = unsent.popFirst() {
                    tasks.addTask {
                        guard let outcome = await send(target) else { return nil }
                        report(target, outcome)
                        return outcome
                    }
                    running += 1
                }
                guard let outcome = await tasks.next() else { return }
                running -= 1
                if let outcome, outcome.isOfLane, !Task.isCancelled {
                    for target in unsent { report(target, outcome) }
                    unsent = []
                }
            }
        }
    }
}

extension Outcome {
    /// Whether it is about the lane, so that the next device would get the same.
    fileprivate var isOfLane: Bool {
        switch self {
        case .deferLane, .misconfigured: true
        case .delivered, .retry, .timedOut, .unregister, .quarantine, .bug, .unsendable: false
        }
    }
}
