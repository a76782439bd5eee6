/// What a push service answered for one device, as something to do (`docs/providers.md` has the tables).
package enum Outcome: Sendable, Equatable {
    /// It was taken, under this id of the push service's own.
    case delivered(id: String?)
    /// Try again, not before `after` when the push service named a time; counts as an attempt. What surely never got there
    /// (not `wasSent`) is tried again even if it is to be sent only once.
    case retry(after: Duration?, reason: String, wasSent: Bool = true)
    /// There was no answer in time: as ``retry(after:reason:wasSent:)``, and a sign that the server does not answer at all.
    case timedOut(reason: String, wasSent: Bool = true)
    /// Leave the whole lane alone for a while; counts nothing. Where the fault is ours (`isOurs`), it says nothing of how the lane does.
    case deferLane(after: Duration?, reason: String, isOurs: Bool = false)
    /// The device is gone, unless it was registered after `at`.
    case unregister(at: Timestamp?, reason: String)
    /// Something is wrong with this device and our credential together: keep it, but stop using it.
    case quarantine(reason: String)
    /// Our credential or its configuration is wrong: nothing in the lane can succeed.
    case misconfigured(reason: String)
    /// What we sent can never be accepted.
    case bug(reason: String)
    /// What is to be sent, or where it is to be sent to (`isOfDevice`), can never be accepted: the push service has not been asked, or
    /// its answer says nothing of anything else.
    case unsendable(reason: String, isOfDevice: Bool = false)
}

extension Outcome {
    /// Whether it is to be tried again since it failed by itself.
    var isFailure: Bool {
        switch self {
        case .retry, .timedOut: true
        case .delivered, .deferLane, .unregister, .quarantine, .misconfigured, .bug, .unsendable: false
        }
    }

    /// Whether there was no answer in time.
    var isTimeout: Bool {
        if case .timedOut = self { true } else { false }
    }

    /// Whether it says nothing of how the lane does, and nothing of what another device would get.
    var isUntold: Bool {
        if case .unsendable = self { true } else { false }
    }

    /// Whether the lane is to be left alone for a fault of ours.
    var isOurs: Bool {
        if case .deferLane(_, _, true) = self { true } else { false }
    }
}
