/// The brakes of all lanes.
///
/// Users choose the hosts of browsers' push services, and with them lanes: both the lanes and what is remembered of each
/// are bounded.
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
        /// It went on, by reports of which the first was `span` ago.
        case on(reason: String, span: Duration)
        case off
    }

    private typealias Brake = UnregistrationBrake<ContinuousClock.Instant>

    static let mostLanes = 10_000
    /// The most devices that are remembered, of all lanes.
    private static let mostRemembered = 200_000
    /// Longer than any notification waits: of a lane that was not heard of for so long nothing is held any more.
    private static let memory = Duration.seconds(25 * 3600)
    /// How long it may take until what was let go here is seen in the database.
    private static let releaseDelay = Duration.seconds(30)

    private var brakes: [Lane: Brake] = [:]
    private var remembered = 0
    /// The lanes whose reports are believed, however many are gone.
    private var released: Set<Lane> = []
    private var releasedHere: [Lane: ContinuousClock.Instant] = [:]

    /// How many lanes have one.
    var count: Int { brakes.count }

    /// The lanes whose reports are not believed for now, since when and why.
    var statuses: [Lane: LaneStatus.Brake] {
        brakes.compactMapValues { brake in
            brake.onSince.map { LaneStatus.Brake(since: $0, reason: brake.reason) }
        }
    }

    /// Whether the reports of a lane are believed, however many are gone.
    func isReleased(_ lane: Lane) -> Bool { released.contains(lane) }

    /// A page of outcomes as it is to be acted upon.
    ///
    /// Receivers of webhooks are believed always: no credential can be wrong there (API section 9).
    mutating func hold(
        _ outcomes: Outcomes,
        of lane: Lane,
        at now: ContinuousClock.Instant,
        wallTime: Timestamp
    ) -> Verdict {
        let answers = Brake.Answers(outcomes)
        guard lane.provider != .webhook, !answers.isEmpty, !released.contains(lane) else {
            return Verdict(outcomes: outcomes)
        }
        // Taken out, so that its sets are not copied when they change.
        var brake = brakes.removeValue(forKey: lane) ?? Brake()
        makeRoom()
        let before = brake.remembered
        let wasOn = brake.isOn
        let room = Self.mostRemembered - remembered
        let newlyGone = brake.note(answers, at: now, wallTime: wallTime, remembering: room)
        remembered += brake.remembered - before
        brakes[lane] = brake
        guard brake.isOn else { return Verdict(outcomes: outcomes, turn: wasOn ? .off : nil) }
        var verdict = Verdict(outcomes: outcomes)
        if !wasOn {
            let span = brake.firstNote.map { $0.duration(to: now) } ?? .zero
            verdict.turn = .on(reason: brake.reason, span: span)
        }
        guard !answers.gone.isEmpty else { return verdict }
        verdict.held = HeldReports(
            targets: outcomes.filter(\.outcome.putsOutOfUse).map(\.target),
            reason: brake.reason,
            // Devices of which that is known already tell nothing new of the lane.
            pausesLane: brake.tally.isMostlyGone && newlyGone > 0
        )
        verdict.outcomes.removeAll(where: \.outcome.putsOutOfUse)
        return verdict
    }

    /// Forgets what does not count any more.
    mutating func prune(at now: ContinuousClock.Instant) {
        for lane in Array(brakes.keys) {
            guard var brake = brakes.removeValue(forKey: lane) else { continue }
            brake.advance(to: now)
            if let last = brake.lastNote, brake.firstNote != nil, now < last + Self.memory { brakes[lane] = brake }
        }
        remembered = brakes.values.reduce(0) { $0 + $1.remembered }
    }

    /// A lane that was begun anew with.
    struct Former: Equatable {
        var lane: Lane
        /// Whether its brake was on.
        var wasOn: Bool
        /// How long ago the first of the reports was that counted; `nil` when there were none.
        var span: Duration?
    }

    /// Begins anew with some lanes; answers what they were.
    mutating func reset(where isMeant: (Lane) -> Bool, at now: ContinuousClock.Instant) -> [Former] {
        brakes.filter { isMeant($0.key) }.map { lane, brake in
            brakes[lane] = nil
            remembered -= brake.remembered
            let span = brake.tally.gone > 0 ? brake.firstNote.map { $0.duration(to: now) } : nil
            return Former(lane: lane, wasOn: brake.isOn, span: span)
        }
    }

    /// Lets a brake go in this replica.
    mutating func release(_ lane: Lane, at now: ContinuousClock.Instant) {
        released.insert(lane)
        releasedHere[lane] = now
    }

    /// Learns which brakes are let go, by whichever replica; answers those that were not before.
    mutating func learn(released stored: Set<Lane>, at now: ContinuousClock.Instant) -> Set<Lane> {
        // A read that began before ours was written knows nothing of it.
        releasedHere = releasedHere.filter { now < $0.value + Self.releaseDelay }
        let before = released
        released = stored.union(releasedHere.keys)
        return released.subtracting(before)
    }

    /// Forgets the lanes that were not heard of for longest, those whose brake is off first.
    private mutating func makeRoom() {
        guard brakes.count >= Self.mostLanes else { return }
        let order = brakes.sorted { left, right in
            if left.value.isOn != right.value.isOn { return right.value.isOn }
            guard let leftNote = left.value.lastNote, let rightNote = right.value.lastNote else { return false }
            return leftNote < rightNote
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
            case .delivered: delivered.append(target.deviceID)
            case .bug: others += 1
            case .unregister, .quarantine: gone.append(target.deviceID)
            case .retry, .timedOut, .deferLane, .misconfigured: break
            }
        }
    }
}

extension Outcome {
    /// Whether it ends the use of the device.
    fileprivate var putsOutOfUse: Bool {
        switch self {
        case .unregister, .quarantine: true
        case .delivered, .retry, .timedOut, .deferLane, .misconfigured, .bug: false
        }
    }
}
