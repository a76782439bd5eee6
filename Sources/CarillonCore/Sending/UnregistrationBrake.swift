import DequeModule

/// Notices when a lane's provider suddenly reports much of what we send to as gone.
///
/// That is a wrong key, topic or environment more often than an exodus, and devices that were unregistered by mistake stay
/// silent until their apps register again. It counts what was answered within five minutes, each device that is gone once,
/// however often it is sent to: those that were held and are tried again do not add up.
struct UnregistrationBrake<Instant: InstantProtocol> where Instant.Duration == Duration {
    /// What a provider answered for some devices.
    struct Answers {
        var delivered = 0
        /// Answers that tell nothing of whether a device is there.
        var others = 0
        var gone: [DeviceID] = []

        var isEmpty: Bool { delivered == 0 && others == 0 && gone.isEmpty }
    }

    /// What was answered within the window.
    struct Tally: Equatable {
        var delivered = 0
        var others = 0
        var gone = 0

        var all: Int { delivered + others + gone }

        /// Whether reports should not be believed: many and more than a fifth, or some and nothing else.
        var isSuspicious: Bool { gone >= 50 && gone * 5 > all || gone >= 20 && delivered == 0 }

        /// Whether the provider takes less than it reports as gone.
        var isMostlyGone: Bool { gone > delivered }
    }

    private struct Bucket {
        let start: Instant
        var delivered = 0
        var others = 0
        var gone: Set<DeviceID> = []
        /// Reports of devices that there was no room to remember.
        var unremembered = 0
    }

    private static var window: Duration { .seconds(300) }
    private static var bucketLength: Duration { .seconds(30) }
    private static var mostRemembered: Int { 10_000 }

    private var buckets: Deque<Bucket> = []
    /// How many devices are remembered, at most 10,000.
    private(set) var remembered = 0
    /// Whether the last page was held, or would have been.
    var isOn = false

    init() {}

    /// When something was last answered.
    var lastNote: Instant? { buckets.last?.start }

    /// What was answered within the window, as of the last note.
    var tally: Tally {
        buckets.reduce(into: Tally()) { tally, bucket in
            tally.delivered += bucket.delivered
            tally.others += bucket.others
            tally.gone += bucket.gone.count + bucket.unremembered
        }
    }

    /// Forgets what is older than the window.
    mutating func advance(to now: Instant) {
        while let first = buckets.first, first.start.advanced(by: Self.window) <= now {
            remembered -= first.gone.count
            buckets.removeFirst()
        }
    }

    /// Notes a page of answers.
    ///
    /// - Parameters:
    ///   - answers: What was answered.
    ///   - now: When.
    ///   - room: How many more devices may be remembered. Reports of those that are not count every time.
    /// - Returns: How many devices are gone that were not counted already.
    mutating func note(_ answers: Answers, at now: Instant, remembering room: Int) -> Int {
        advance(to: now)
        if buckets.last.map({ $0.start.advanced(by: Self.bucketLength) <= now }) ?? true {
            buckets.append(Bucket(start: now))
        }
        let last = buckets.count - 1
        buckets[last].delivered += answers.delivered
        buckets[last].others += answers.others
        let limit = min(Self.mostRemembered, remembered + max(0, room))
        var newlyGone = 0
        for device in answers.gone {
            if forget(device) {
                buckets[last].gone.insert(device)
                remembered += 1
            } else if remembered < limit {
                buckets[last].gone.insert(device)
                remembered += 1
                newlyGone += 1
            } else {
                buckets[last].unremembered += 1
                newlyGone += 1
            }
        }
        return newlyGone
    }

    /// Answers whether it was remembered.
    private mutating func forget(_ device: DeviceID) -> Bool {
        for index in buckets.indices.reversed() where buckets[index].gone.remove(device) != nil {
            remembered -= 1
            return true
        }
        return false
    }
}
