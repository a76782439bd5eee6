/// What is wrong with a lane, the same for all replicas: that it is paused, and what its provider reports as gone.
///
/// A lane that is well has none. Times are the database's.
package struct LaneCondition: Sendable, Equatable {
    /// Why and for how long a lane is not sent to.
    package struct Pause: Sendable, Equatable {
        /// Since when, earlier pauses included that nothing went through between.
        package var since: Timestamp
        /// When the next group is to find out whether it works again.
        package var until: Timestamp
        /// Why; holds no token and no text.
        package var reason: String

        package init(since: Timestamp, until: Timestamp, reason: String) {
            self.since = since
            self.until = until
            self.reason = reason
        }
    }

    /// Devices that were put out of use by reports that are not believed any more.
    package struct Undo: Sendable, Equatable {
        /// From when on they were reported.
        package var since: Timestamp
        /// Until when such reports may still be written down.
        package var until: Timestamp

        package init(since: Timestamp, until: Timestamp) {
            self.since = since
            self.until = until
        }
    }

    /// How long a lane is paused for the first time, where its push service names no time.
    package static let firstPause = Duration.seconds(15)
    /// How long at the most; each pause is twice the one before.
    package static let longestPause = Duration.seconds(600)
    /// How long the circuit of an endpoint is open at the most: first for twice ``firstPause``, then for twice the time before.
    package static let longestCircuit = Duration.seconds(300)
    /// How long a try whether a paused lane works may take, until which nobody else tries; and how long at the least the lane is
    /// left alone then.
    package static let trialTime = Duration.seconds(30)
    /// How long what was delivered while a credential was replaced may take to be written down.
    package static let undoPeriod = Duration.seconds(15)

    /// Set while the lane is not sent to, or tried with one group at a time.
    package var pause: Pause?
    package var nextPause = Self.firstPause
    /// What the provider answered, while it reports devices as gone.
    package var reports = DeviceReports()
    /// Since when such reports are not believed: the brake is on.
    package var brakedSince: Timestamp?
    /// Until when they are believed in any case: an admin has let the brake go.
    package var believedUntil: Timestamp?
    /// Set while devices are to be taken back into use.
    package var undo: Undo?

    package init() {}

    /// Whether nothing of it has to be remembered.
    package func isWell(at now: Timestamp) -> Bool {
        pause == nil && brakedSince == nil && undo == nil && reports.isForgettable(at: now)
            && believedUntil.map { $0 <= now } ?? true
    }

    /// Whether reports of devices as gone are believed, however many they are.
    package func believes(at now: Timestamp) -> Bool { believedUntil.map { now < $0 } ?? false }

    /// How long the lane is paused from now on; `nil` when it is not, or may be tried.
    package func remainingPause(at now: Timestamp) -> Duration? {
        pause.flatMap { now < $0.until ? $0.until - now : nil }
    }

    /// What the reasons begin with for which devices wait that were reported as gone.
    package static let brakePrefix = "brake: "

    package var brakeReason: String {
        "\(Self.brakePrefix)\(reports.gone) of \(reports.all) devices reported as gone"
    }
}

package enum LaneChange: Sendable, Equatable {
    /// Nothing in it can go through for now; each pause without a time of the push service's own is twice the last one.
    case pause(for: Duration?, reason: String)
    /// An endpoint failed too often in a row, or when it was tried again: its circuit is open for twice as long as before.
    case failing(reason: String)
    /// It is found out whether the endpoint of a circuit works whose time is over; until then it is open for twice as long as before.
    case trying
    /// What was to find it out told nothing: the next one may try after a while, and its circuit will be open for as long as it would have
    /// been.
    case triedInVain(for: Duration = .zero)
    /// It is found out whether a lane works whose pause is over; nobody else tries meanwhile.
    case probing
    /// What was to find it out told nothing: the next one may try after a while.
    case probedInVain(for: Duration = .zero)
    /// It was found out that it does not; each pause without a time of the push service's own is twice the last one.
    case stillFailing(for: Duration?, reason: String)
    /// Something went through.
    case resume
    /// It has another credential: what was reported of devices may have come of the former one.
    case credentialChanged
    /// An admin believes what its provider reports, until a moment.
    case believe(until: Timestamp)
    /// The devices were taken back into use that were put out of it until a moment.
    case undone(until: Timestamp)
}

extension LaneChange {
    /// Nothing goes through a lane; `wasTried` where that was found out by trying if it works again.
    static func failure(of lane: Lane, for length: Duration?, reason: String, wasTried: Bool) -> LaneChange {
        if lane.endpoint != nil, length == nil { return .failing(reason: reason) }
        return wasTried ? .stillFailing(for: length, reason: reason) : .pause(for: length, reason: reason)
    }

    /// It is found out whether a lane works whose pause is over.
    static func trial(of lane: Lane) -> LaneChange { lane.endpoint == nil ? .probing : .trying }

    /// What was to find it out told nothing.
    static func vainTrial(of lane: Lane, for length: Duration) -> LaneChange {
        lane.endpoint == nil ? .probedInVain(for: length) : .triedInVain(for: length)
    }

    /// Whether it means nothing to a lane that is well.
    package var isOfPausedLanes: Bool {
        switch self {
        case .resume, .trying, .triedInVain, .probing, .probedInVain: true
        case .pause, .failing, .stillFailing, .credentialChanged, .believe, .undone: false
        }
    }

    /// Whether what waits for a lane may have its turn since then.
    package var isOpening: Bool {
        switch self {
        case .resume: true
        case .triedInVain(let length), .probedInVain(let length): length == .zero
        case .pause, .failing, .trying, .probing, .stillFailing, .credentialChanged, .believe, .undone: false
        }
    }
}

extension LaneCondition {
    package mutating func apply(_ change: LaneChange, at now: Timestamp) {
        switch change {
        case .pause(let length, let reason): pause(for: length, reason: reason, at: now)
        case .failing(let reason):
            // What was on its way when the circuit opened says nothing new.
            if remainingPause(at: now) == nil { openCircuit(reason, at: now) }
        case .trying:
            if let pause, remainingPause(at: now) == nil { openCircuit(pause.reason, at: now) }
        case .triedInVain(let length):
            guard pause != nil else { return }
            pause?.until = now + length
            nextPause = max(nextPause / 2, Self.firstPause)
        case .probing:
            if pause != nil, remainingPause(at: now) == nil { pause?.until = now + Self.trialTime }
        case .probedInVain(let length):
            pause?.until = now + length
        case .stillFailing(let length, let reason):
            let end = max(pause?.until ?? now, now + (length ?? nextPause))
            pause = Pause(since: pause?.since ?? now, until: end, reason: reason)
            if length == nil { nextPause = min(nextPause * 2, Self.longestPause) }
        case .resume:
            pause = nil
            nextPause = Self.firstPause
        case .credentialChanged:
            if reports.gone > 0 { undo = Undo(since: reports.since ?? now, until: now + Self.undoPeriod) }
            beginAnew()
        case .believe(let end):
            beginAnew()
            undo = nil
            believedUntil = end
        case .undone(let end):
            if let undo, undo.until <= end { self.undo = nil }
        }
    }

    /// Notes what was answered.
    ///
    /// - Parameters:
    ///   - answers: What was answered.
    ///   - proven: While the brake is on, what different devices have answered; `nil` where that is not known.
    ///   - now: The time.
    /// - Returns: Whether the brake has gone on or off by it.
    package mutating func note(
        _ answers: DeviceReports.Answers,
        proven: DeviceReports.Sample? = nil,
        at now: Timestamp
    ) -> BrakeChange? {
        guard !believes(at: now) else { return nil }
        guard brakedSince == nil else {
            // A sample of fewer than were reported has not heard of them yet: the network has moved here, or another release has counted.
            guard let proven, proven.size * proven.part >= reports.gone else { return nil }
            reports.take(proven)
            guard reports.isRefuted else { return nil }
            beginAnew()
            return .off
        }
        reports.add(answers, at: now)
        guard reports.isSuspicious else { return nil }
        brakedSince = now
        undo = Undo(since: reports.since ?? now, until: now)
        return .on
    }

    private mutating func pause(for length: Duration?, reason: String, at now: Timestamp) {
        if let current = pause, now < current.until {
            // Said by what was on its way when the pause began.
            pause?.until = max(current.until, now + (length ?? .zero))
            return
        }
        pause = Pause(since: pause?.since ?? now, until: now + (length ?? nextPause), reason: reason)
        if length == nil { nextPause = min(nextPause * 2, Self.longestPause) }
    }

    private mutating func openCircuit(_ reason: String, at now: Timestamp) {
        nextPause = min(nextPause * 2, Self.longestPause)
        let end = now + min(nextPause, Self.longestCircuit)
        pause = Pause(since: pause?.since ?? now, until: end, reason: reason)
    }

    private mutating func beginAnew() {
        pause = nil
        nextPause = Self.firstPause
        reports = DeviceReports()
        brakedSince = nil
    }
}

/// What has become of the brake on unregistrations of a lane.
package enum BrakeChange: Sendable, Equatable {
    /// Reports of devices as gone are not believed from now on.
    case on
    case off
}
