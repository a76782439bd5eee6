/// What a lane's provider has answered lately, counted to notice when it reports much of what we send to as gone.
///
/// That is a wrong key, topic or environment more often than an exodus, and devices that were unregistered by mistake stay
/// silent until their apps register again. What is older than five minutes counts half, and half again, as long as
/// anything was delivered; where nothing was, everything counts for ever: neither time nor traffic makes a wrong
/// credential right.
package struct DeviceReports: Sendable, Equatable {
    package struct Answers: Sendable, Equatable {
        package var delivered: [DeviceID] = []
        /// Answers that tell nothing of whether a device is there.
        package var others = 0
        package var gone: [DeviceID] = []

        package init() {}

        package func adding(_ more: Answers) -> Answers {
            var sum = self
            sum.delivered += more.delivered
            sum.others += more.others
            sum.gone += more.gone
            return sum
        }
    }

    /// What different devices have answered while the brake is on: of many, those that one of `part` is remembered of.
    package struct Sample: Sendable, Equatable {
        package var gone: Int
        package var delivered: Int
        package var part: Int

        package init(gone: Int, delivered: Int, part: Int = 1) {
            self.gone = gone
            self.delivered = delivered
            self.part = part
        }

        package var size: Int { gone + delivered }
    }

    private static let window = Duration.seconds(300)
    /// Longer than any notification waits.
    private static let memory = Duration.seconds(25 * 3600)

    package var since: Timestamp?
    /// How many were delivered; while the brake is on, to how many different devices since then.
    package var delivered = 0
    /// How many answers told nothing.
    package var others = 0
    package var gone = 0
    /// While the brake is on, of how many devices one is counted.
    package var part = 1

    package init() {}

    package var all: Int { delivered + others + gone }

    /// Whether reports should not be believed any more: many and more than a fifth, or some and nothing else.
    var isSuspicious: Bool { gone >= 50 && gone * 5 > all || gone >= 20 && delivered == 0 }

    /// How many devices have to be delivered to in any case.
    private static let fewest = 10

    /// Whether enough different devices were delivered to for the reports to be true.
    var isRefuted: Bool { delivered >= max(gone * 4, Self.fewest * part) }

    package var isMostlyGone: Bool { gone > delivered }

    func isForgettable(at now: Timestamp) -> Bool {
        gone == 0 || since.map { $0 + (delivered > 0 ? Self.window * 4 : Self.memory) <= now } ?? true
    }

    mutating func take(_ sample: Sample) {
        (gone, delivered, part) = (sample.gone * sample.part, sample.delivered * sample.part, sample.part)
    }

    mutating func add(_ answers: Answers, at now: Timestamp) {
        while delivered > 0, let begin = since, begin + Self.window <= now {
            (delivered, others, gone) = (delivered / 2, others / 2, gone / 2)
            since = gone == 0 ? nil : begin + Self.window / 2
        }
        if since == nil { since = now }
        delivered += answers.delivered.count
        others += answers.others
        gone += answers.gone.count
    }
}
