import DequeModule

/// Notices when a lane's provider suddenly reports much of what we send to as gone.
///
/// That is a wrong key, topic or environment more often than an exodus, and devices that were unregistered by mistake stay
/// silent until their apps register again. More than a fifth of what was sent within five minutes, and at least 50
/// devices: then it is on, and the reports are not believed until the share has fallen or somebody lets it go.
struct UnregistrationBrake<Instant: InstantProtocol> where Instant.Duration == Duration {
    private struct Bucket {
        var start: Instant
        var sent = 0
        var gone = 0
    }

    private static var window: Duration { .seconds(300) }
    private static var bucketLength: Duration { .seconds(30) }
    private static var fewestGone: Int { 50 }
    /// One in so many may be gone.
    private static var share: Int { 5 }

    private var buckets: Deque<Bucket> = []

    init() {}

    /// Whether nothing was sent within the window.
    func isIdle(at now: Instant) -> Bool { buckets.last.map { $0.start.advanced(by: Self.window) <= now } ?? true }

    /// Notes a page of outcomes; answers how many of how many were reported gone lately, when the brake is on.
    mutating func note(sent: Int, gone: Int, at now: Instant) -> (gone: Int, sent: Int)? {
        while let first = buckets.first, first.start.advanced(by: Self.window) <= now { buckets.removeFirst() }
        if let last = buckets.last, now < last.start.advanced(by: Self.bucketLength) {
            buckets[buckets.count - 1].sent += sent
            buckets[buckets.count - 1].gone += gone
        } else {
            buckets.append(Bucket(start: now, sent: sent, gone: gone))
        }
        let total = buckets.reduce(into: (gone: 0, sent: 0)) { total, bucket in
            total.gone += bucket.gone
            total.sent += bucket.sent
        }
        return total.gone >= Self.fewestGone && total.gone * Self.share > total.sent ? total : nil
    }
}

/// The brakes of all lanes.
struct UnregistrationBrakes {
    private static let mostLanes = 10_000

    private var brakes: [Lane: UnregistrationBrake<ContinuousClock.Instant>] = [:]
    /// The lanes whose reports are believed, however many are gone.
    var released: Set<Lane> = []

    /// A page of outcomes as it is to be acted upon, and how many unregistrations were held.
    mutating func hold(
        _ outcomes: [(target: Target, outcome: Outcome)],
        of lane: Lane,
        at now: ContinuousClock.Instant
    ) -> (outcomes: [(target: Target, outcome: Outcome)], held: Int) {
        let gone = outcomes.count(where: \.outcome.putsOutOfUse)
        let sent = outcomes.count(where: \.outcome.isAnswer)
        if brakes.count >= Self.mostLanes { brakes = brakes.filter { !$0.value.isIdle(at: now) } }
        let braking = brakes[lane, default: UnregistrationBrake()].note(sent: sent, gone: gone, at: now)
        guard gone > 0, let braking, !released.contains(lane) else { return (outcomes, 0) }
        let reason = "brake: \(braking.gone) of \(braking.sent) devices reported as gone within 5 minutes"
        let kept = outcomes.map { target, outcome in
            (target: target, outcome: outcome.putsOutOfUse ? .deferLane(after: nil, reason: reason) : outcome)
        }
        return (kept, gone)
    }

    /// Begins anew with some lanes.
    mutating func reset(where isMeant: (Lane) -> Bool) {
        brakes = brakes.filter { !isMeant($0.key) }
    }
}

extension Outcome {
    /// Whether it ends the use of the device.
    fileprivate var putsOutOfUse: Bool {
        switch self {
        case .unregister, .quarantine: true
        case .delivered, .retry, .deferLane, .misconfigured, .bug: false
        }
    }

    /// Whether it tells anything of the device.
    fileprivate var isAnswer: Bool {
        switch self {
        case .delivered, .unregister, .quarantine, .bug: true
        case .retry, .deferLane, .misconfigured: false
        }
    }
}
