import CarillonCore
import NIOHTTP1
import PushHTTP
import Synchronization

/// What the answer to one device means, as far as can be told from it alone.
enum Finding: Sendable, Equatable {
    case certain(Outcome)
    /// A refusal that is about the device if it comes again although our credential works for others, and about the
    /// credential if it works for nobody; `unclear` while that is not known. Once is enough where the answer names the
    /// device, rather than us, for what is wrong.
    case refusal(ofDevice: Outcome, ofLane: Outcome, unclear: Outcome, namesDevice: Bool = false)
    /// A refusal of all devices of one kind, such as those of an environment. The others of the lane go on, unless
    /// nothing at all goes through.
    case partial(ofKind: Outcome, ofLane: Outcome)
    /// No more messages for now: for this device or, when answer after answer says so, for the whole lane.
    case limit(ofDevice: Outcome, ofLane: Outcome)
}

extension Finding {
    /// What no answer means: another try and, when one after another cannot reach the service at all, a pause of the lane.
    /// `wasSent` says that the push service may have got the message.
    init(_ error: OutboundError, wasSent: Bool) {
        let retry = Outcome(error, wasSent: wasSent)
        switch error {
        case .timedOut, .nameNotFound, .lookupFailed, .connectionRefused, .unreachable, .tlsFailed:
            self = .limit(ofDevice: retry, ofLane: .deferLane(after: nil, reason: error.rawValue))
        case .connectionClosed, .reset, .refused, .busy, .malformedAnswer, .answerTooLong:
            self = .certain(retry)
        }
    }

    /// What it means for the device, whatever becomes of others.
    var ofDevice: Outcome {
        switch self {
        case .certain(let outcome), .refusal(let outcome, _, _, _), .partial(let outcome, _), .limit(let outcome, _):
            outcome
        }
    }
}

extension CurrentCredential {
    /// What was found by sending to one device.
    /// - Parameters:
    ///   - outcome: What it means that the address is not to be sent to.
    ///   - send: Sends with the credential that it is given, of which it asks right before whether it is current.
    /// - Returns: `nil` when it was not sent, since the task was cancelled or the credential changed.
    func finding(
        whenRefused outcome: (_ reason: String) -> Outcome = { .unsendable(reason: $0, isOfDevice: true) },
        by send: (Self) async throws -> Finding?
    ) async -> Finding? {
        let wasSent = Mutex(false)
        let isWanted: @Sendable () -> Bool = { [isCurrent] in
            guard isCurrent() else { return false }
            wasSent.withLock { $0 = true }
            return true
        }
        let watched = Self(value: value, isCurrent: isWanted) { wasSent.withLock { $0 = false } }
        do {
            return try await send(watched)
        } catch let refusal as EgressRefusal {
            return .certain(outcome(refusal.rule.rawValue))
        } catch let error as OutboundError {
            return Finding(error, wasSent: wasSent.withLock(\.self))
        } catch {
            return Task.isCancelled || !isCurrent() ? nil : .certain(.retry(after: nil, reason: "failed"))
        }
    }
}

extension Outcome {
    /// What no answer means for one device.
    init(_ error: OutboundError, wasSent: Bool) {
        let reason = error.rawValue
        self =
            error == .timedOut
            ? .timedOut(reason: reason, wasSent: wasSent) : .retry(after: nil, reason: reason, wasSent: wasSent)
    }

    /// What a receiver's answer means (API section 9): a 2xx takes the notification, 410 ends it for this device, anything
    /// else, redirects included, is tried again.
    init(webhookStatus status: Int, headers: HTTPHeaders, now: Timestamp) {
        switch status {
        case 200..<300: self = .delivered(id: nil)
        case 410: self = .unregister(at: nil, reason: "http 410")
        default: self = .retry(after: headers.retryAfter(at: now), reason: "http \(status)")
        }
    }
}
