import CarillonCore

/// What came of looking for the credential of a group.
enum CredentialLookup<Credential: Sendable>: Sendable {
    case found(CurrentCredential<Credential>)
    /// There is none, or it cannot be read: nothing is sent, and the lane waits.
    case missing(Outcome)
    /// Nobody waits for it any more.
    case cancelled

    /// Looks for it.
    /// - Parameters:
    ///   - name: What it is a credential for, to be shown when there is none.
    ///   - find: Finds it.
    init(named name: String, by find: () async throws -> CurrentCredential<Credential>?) async {
        do {
            if let credential = try await find() {
                self = .found(credential)
            } else {
                self = .missing(.deferLane(after: nil, reason: "no credential for \(name)"))
            }
        } catch {
            self =
                Task.isCancelled
                ? .cancelled : .missing(.deferLane(after: .seconds(5), reason: "credential not readable"))
        }
    }
}

extension DeliveryGroup {
    /// Reports the same outcome for every target.
    func report(_ outcome: Outcome, to report: @Sendable (Target, Outcome) -> Void) {
        for target in targets { report(target, outcome) }
    }
}
