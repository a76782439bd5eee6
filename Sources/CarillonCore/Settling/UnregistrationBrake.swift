import DequeModule

/// Notices when a lane's provider reports much of what we send to as gone.
///
/// That is a wrong key, topic or environment more often than an exodus, and devices that were unregistered by mistake stay
/// silent until their apps register again. It counts what was answered within five minutes, or since it can remember as
/// long as nothing was delivered; each device that is gone once, however often it is sent to. Once it is on, only devices
/// that are delivered to make it go off, each once: neither time nor traffic makes a wrong credential right.
struct UnregistrationBrake<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// What a provider answered for some devices.
    struct Answers {
        var delivered: [DeviceID] = []
        /// Answers that tell nothing of whether a device is there.
        var others = 0
        var gone: [DeviceID] = []

        var isEmpty: Bool { delivered.isEmpty && others == 0 && gone.isEmpty }
    }

    /// What was answered.
    struct Tally: Equatable {
        var delivered = 0
        var others = 0
        var gone = 0

        var all: Int { delivered + others + gone }

        /// Whether reports should not be believed any more: many and more than a fifth, or some and nothing else.
        var isSuspicious: Bool { gone >= 50 && gone * 5 > all || gone >= 20 && delivered == 0 }

        /// Whether the provider takes less than it reports as gone.
        var isMostlyGone: Bool { gone > delivered }
    }

    private struct Bucket {
        /// When the window begins for it.
        var start: Instant
        /// When the first of it was answered.
        let first: Instant
        var delivered = 0
        var others = 0
        var gone: Set<DeviceID> = []
        /// Reports of devices that there was no room to remember.
        var unremembered = 0
    }

    private static var window: Duration { .seconds(300) }
    private static var bucketLength: Duration { .seconds(30) }
    private static var mostRemembered: Int { 10_000 }
    private static var mostUnremembered: Int { 10_000 }

    private var buckets: Deque<Bucket> = []
    /// How many devices are remembered, at most 10,000.
    private(set) var remembered = 0
    /// Since when reports are not believed; `nil` while they are.
    private(set) var onSince: Timestamp?
    /// The devices that were delivered to since then; no more than are needed to make it go off.
    private var proofs: Set<DeviceID> = []
    /// When something was last answered.
    private(set) var lastNote: Instant?

    init() {}

    var isOn: Bool { onSince != nil }

    /// When the first of what counts was answered.
    var firstNote: Instant? { buckets.first?.first }

    /// What counts, as of the last note.
    var tally: Tally {
        var tally = buckets.reduce(into: Tally()) { tally, bucket in
            tally.delivered += bucket.delivered
            tally.others += bucket.others
            tally.gone += bucket.gone.count + bucket.unremembered
        }
        tally.delivered = max(tally.delivered, proofs.count)
        return tally
    }

    /// Why reports are not believed.
    var reason: String {
        let tally = tally
        return "brake: \(tally.gone) of \(tally.all) devices reported as gone"
    }

    /// Whether what was answered long ago still counts.
    private var isTimeless: Bool {
        isOn || buckets.contains { !$0.gone.isEmpty } && buckets.allSatisfy { $0.delivered == 0 }
    }

    /// Forgets what does not count any more.
    mutating func advance(to now: Instant) {
        guard !isTimeless else { return }
        while let first = buckets.first, first.start.advanced(by: Self.window) <= now {
            remembered -= first.gone.count
            buckets.removeFirst()
        }
    }

    /// Notes a page of answers, and goes on or off by it.
    ///
    /// - Parameters:
    ///   - answers: What was answered.
    ///   - now: When.
    ///   - wallTime: The same, to show to people.
    ///   - room: How many more devices may be remembered. Reports of those that are not count every time.
    /// - Returns: How many devices are gone that were not counted already.
    mutating func note(_ answers: Answers, at now: Instant, wallTime: Timestamp, remembering room: Int) -> Int {
        advance(to: now)
        lastNote = now
        let wasTimeless = isTimeless
        let isFull = buckets.last.map { $0.start.advanced(by: Self.bucketLength) <= now } ?? true
        if buckets.isEmpty || isFull && !isTimeless { buckets.append(Bucket(start: now, first: now)) }
        let last = buckets.count - 1
        let enough = tally.gone * 4
        for device in answers.delivered {
            let wasRemembered = forget(device)
            if isOn { prove(device, wasRemembered: wasRemembered, upTo: enough) }
        }
        if !isOn {
            buckets[last].delivered += answers.delivered.count
            buckets[last].others += answers.others
        }
        let limit = min(Self.mostRemembered, remembered + max(0, room))
        var newlyGone = 0
        for device in answers.gone {
            if !forget(device) { newlyGone += 1 }
            if remembered < limit {
                buckets[last].gone.insert(device)
                remembered += 1
            } else if unremembered < Self.mostUnremembered {
                buckets[last].unremembered += 1
            }
        }
        let tally = tally
        if isOn {
            if tally.gone * 5 <= tally.gone + proofs.count { goOff() }
        } else if tally.isSuspicious {
            onSince = wallTime
        }
        if wasTimeless, !isTimeless { beginWindow(at: now) }
        return newlyGone
    }

    private var unremembered: Int { buckets.reduce(0) { $0 + $1.unremembered } }

    /// Counts a device as delivered to, once. One that was not remembered may be one of those that there was no room for.
    private mutating func prove(_ device: DeviceID, wasRemembered: Bool, upTo enough: Int) {
        guard proofs.count < enough, proofs.insert(device).inserted, !wasRemembered else { return }
        if let index = buckets.firstIndex(where: { $0.unremembered > 0 }) { buckets[index].unremembered -= 1 }
    }

    private mutating func goOff() {
        onSince = nil
        buckets[buckets.count - 1].delivered += max(0, proofs.count - buckets.reduce(0) { $0 + $1.delivered })
        proofs = []
    }

    /// Lets what counted without regard to time count for another window.
    private mutating func beginWindow(at now: Instant) {
        guard var all = buckets.popFirst() else { return }
        for bucket in buckets {
            all.delivered += bucket.delivered
            all.others += bucket.others
            all.gone.formUnion(bucket.gone)
            all.unremembered += bucket.unremembered
        }
        all.start = now
        buckets = [all]
    }

    /// Answers whether it was remembered.
    private mutating func forget(_ device: DeviceID) -> Bool {
        guard remembered > 0 else { return false }
        for index in buckets.indices.reversed() where buckets[index].gone.remove(device) != nil {
            remembered -= 1
            return true
        }
        return false
    }
}
