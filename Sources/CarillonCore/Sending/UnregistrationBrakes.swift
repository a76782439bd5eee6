/// The brakes of all lanes.
///
/// Users choose the hosts of webhooks and browsers' push services, and with them lanes: both the lanes and what is
/// remembered of each are bounded.
struct UnregistrationBrakes {
    typealias Outcomes = [(target: Target, outcome: Outcome)]

    /// What becomes of a page of outcomes.
    struct Verdict {
        /// Those to be acted upon.
        var outcomes: Outcomes
        /// The others.
        var held: HeldReports?
        /// Set when the brake has gone on or off by this page.
        var turn: Turn?
    }

    /// A change of a brake.
    enum Turn: Equatable {
        case on(reason: String)
        case off
    }

    private typealias Brake = UnregistrationBrake<ContinuousClock.Instant>

    static let mostLanes = 10_000
    /// The most devices that are remembered, of all lanes.
    private static let mostRemembered = 200_000

    private var brakes: [Lane: Brake] = [:]
    private var remembered = 0
    /// The lanes whose reports are believed, however many are gone.
    var released: Set<Lane> = []

    /// Whether the reports of a lane are not believed for now.
    func isOn(_ lane: Lane) -> Bool { brakes[lane]?.isOn == true && !released.contains(lane) }

    /// How many lanes have one.
    var count: Int { brakes.count }

    /// A page of outcomes as it is to be acted upon.
    mutating func hold(_ outcomes: Outcomes, of lane: Lane, at now: ContinuousClock.Instant) -> Verdict {
        let answers = Brake.Answers(outcomes)
        guard !answers.isEmpty else { return Verdict(outcomes: outcomes) }
        // Taken out, so that its sets are not copied when they change.
        var brake = brakes.removeValue(forKey: lane) ?? Brake()
        makeRoom(at: now)
        let before = brake.remembered
        let newlyGone = brake.note(answers, at: now, remembering: Self.mostRemembered - remembered)
        remembered += brake.remembered - before
        let tally = brake.tally
        let reason = "brake: \(tally.gone) of \(tally.all) devices reported as gone within 5 minutes"
        let wasOn = brake.isOn
        brake.isOn = tally.isSuspicious && !released.contains(lane)
        brakes[lane] = brake
        let turn: Turn? = brake.isOn == wasOn ? nil : wasOn ? .off : .on(reason: reason)
        guard brake.isOn, !answers.gone.isEmpty else { return Verdict(outcomes: outcomes, turn: turn) }
        let held = HeldReports(
            targets: outcomes.filter(\.outcome.putsOutOfUse).map(\.target),
            reason: reason,
            // Devices of which that is known already tell nothing new of the lane.
            pausesLane: tally.isMostlyGone && newlyGone > 0
        )
        return Verdict(outcomes: outcomes.filter { !$0.outcome.putsOutOfUse }, held: held, turn: turn)
    }

    /// Forgets what is older than the window; answers the lanes whose brakes went off by that.
    mutating func prune(at now: ContinuousClock.Instant) -> [Lane] {
        var off: [Lane] = []
        for lane in Array(brakes.keys) {
            guard var brake = brakes.removeValue(forKey: lane) else { continue }
            brake.advance(to: now)
            if brake.isOn, !brake.tally.isSuspicious || released.contains(lane) {
                brake.isOn = false
                off.append(lane)
            }
            if brake.lastNote != nil { brakes[lane] = brake }
        }
        remembered = brakes.values.reduce(0) { $0 + $1.remembered }
        return off
    }

    /// Begins anew with some lanes; answers those whose brakes were on.
    mutating func reset(where isMeant: (Lane) -> Bool) -> [Lane] {
        let gone = brakes.filter { isMeant($0.key) }
        for (lane, brake) in gone {
            brakes[lane] = nil
            remembered -= brake.remembered
        }
        return gone.filter(\.value.isOn).map(\.key)
    }

    /// Forgets the lanes that were not heard of for longest, those whose brake is off first.
    private mutating func makeRoom(at now: ContinuousClock.Instant) {
        guard brakes.count >= Self.mostLanes else { return }
        let order = brakes.sorted { left, right in
            if left.value.isOn != right.value.isOn { return right.value.isOn }
            return left.value.lastNote ?? now < right.value.lastNote ?? now
        }
        for (lane, brake) in order.prefix(Self.mostLanes / 10) {
            brakes[lane] = nil
            remembered -= brake.remembered
        }
    }
}

extension UnregistrationBrake.Answers {
    init(_ outcomes: UnregistrationBrakes.Outcomes) {
        for (target, outcome) in outcomes {
            switch outcome {
            case .delivered: delivered += 1
            case .bug: others += 1
            case .unregister, .quarantine: gone.append(target.deviceID)
            case .retry, .deferLane, .misconfigured: break
            }
        }
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
}
