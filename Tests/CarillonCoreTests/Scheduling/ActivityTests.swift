import CarillonTesting
import Metrics
import Synchronization
import Testing

@testable import CarillonCore

/// How often it is looked for what is due, in a time that passes as soon as somebody waits for it.
@Suite struct ActivityTests {
    private static let pace = PollPace(interval: .milliseconds(500))

    private final class Looks: Sendable {
        private let all = Mutex<[Double]>([])

        var seconds: [Double] { all.withLock(\.self) }

        func note(_ second: Double) { all.withLock { $0.append(second) } }
    }

    /// The seconds at which it was looked.
    private func looks(
        _ pace: PollPace = pace,
        for seconds: Double,
        mayRest: Bool = true,
        looksOnlyWhenDue: Bool = false,
        nextDue: @escaping @Sendable (_ second: Double) -> Double? = { _ in nil },
        with happenings: (PassingTime, Activity) -> Void = { _, _ in }
    ) async throws -> [Double] {
        let time = PassingTime(seconds: seconds)
        let activity = Activity(
            mayRest: { mayRest },
            now: { time.now },
            sleep: { await time.sleep(until: $0) }
        )
        happenings(time, activity)
        let looks = Looks()
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                await activity.repeating(
                    pace,
                    looksOnlyWhenDue: looksOnlyWhenDue,
                    nextDue: { limit in
                        let second = (time.now - time.start) / .seconds(1)
                        return nextDue(second).map { .seconds($0 - second) }.flatMap { $0 <= limit ? $0 : nil }
                    },
                    { looks.note((time.now - time.start) / .seconds(1)) }
                )
            }
            try await eventually("the end") { time.isOver }
            group.cancelAll()
        }
        return looks.seconds
    }

    private func gaps(_ looks: [Double]) -> [Double] { zip(looks.dropFirst(), looks).map { $0 - $1 } }

    @Test func `looks become rarer while nothing happens, and are never more than five seconds apart`() async throws {
        let looks = try await looks(for: 65)
        #expect(looks.prefix(4) == [0.5, 1, 1.5, 2])
        #expect(looks.count { $0 <= 60 } <= 21, "\(looks)")
        #expect(gaps(looks).allSatisfy { $0 <= 5.001 }, "\(looks)")
        #expect(gaps(looks).suffix(5).allSatisfy { $0 >= 4.999 }, "\(looks)")
    }

    @Test func `who does not hear others never rests`() async throws {
        let looks = try await looks(for: 60, mayRest: false)
        #expect((118...120).contains(looks.count))
    }

    @Test func `whatever happens is looked at within the usual time`() async throws {
        let looks = try await looks(
            for: 64,
            with: { time, activity in
                time.at(60.2) { activity.note() }
            }
        )
        #expect(looks.contains { abs($0 - 60.7) < 0.001 }, "\(looks)")
        #expect(looks.count { $0 > 60.2 && $0 < 62.8 } >= 4, "\(looks)")
    }

    @Test(arguments: [0.05, 0.3, 0.45, 0.7])
    func `what happens again and again puts no look off`(gap: Double) async throws {
        let looks = try await looks(
            for: 120,
            with: { time, activity in
                for number in 0..<Int(60 / gap) { time.at(60.2 + Double(number) * gap) { activity.note() } }
            }
        )
        let busy = looks.filter { $0 > 60.2 }
        #expect(busy.first.map { $0 < 60.71 } == true, "\(looks)")
        #expect(gaps(busy).allSatisfy { $0 < 0.501 }, "\(looks)")
        #expect(busy.count >= 118, "\(looks)")
    }

    @Test func `a call from others is answered at once`() async throws {
        let looks = try await looks(
            for: 62,
            with: { time, activity in
                time.at(60.2) { activity.call() }
            }
        )
        #expect(looks.contains { abs($0 - 60.2) < 0.001 }, "\(looks)")
        let uncalled = PollPace(interval: .milliseconds(500), isCalled: false)
        let others = try await self.looks(
            uncalled,
            for: 62,
            with: { time, activity in
                time.at(60.2) { activity.call() }
            }
        )
        #expect(!others.contains { abs($0 - 60.2) < 0.001 }, "\(others)")
    }

    @Test func `a rest ends when something becomes due that was seen before it`() async throws {
        let looks = try await looks(for: 120, nextDue: { second in [61.25, 93.75].first { $0 > second } })
        for moment in [61.25, 93.75] { #expect(looks.contains { abs($0 - moment) < 0.001 }, "\(looks)") }
    }

    @Test func `what becomes due again and again is looked at no more often than while anything happens`() async throws
    {
        let looks = try await looks(for: 60, nextDue: { $0 + 0.001 })
        #expect(looks.count <= 120)
        #expect(gaps(looks).allSatisfy { $0 >= 0.499 })
    }

    @Test func `where it can be told that nothing is due it is not looked at all`() async throws {
        let looks = try await looks(for: 600, looksOnlyWhenDue: true, nextDue: { $0 < 301 ? max($0, 300.25) : nil })
        #expect(looks.count { $0 > 3 } == 1)
        #expect(looks.contains { $0 >= 300.25 && $0 < 300.76 }, "\(looks)")
    }

    @Test func `a minute's pace rests for five at the most, and is what it was within a minute`() async throws {
        let pace = PollPace(interval: .seconds(60), longest: .seconds(300), isCalled: false)
        let looks = try await looks(
            pace,
            for: 7_300,
            with: { time, activity in
                time.at(7_210) { activity.note() }
            }
        )
        #expect(looks.prefix(2) == [60, 120])
        #expect(looks.count { $0 < 7_200 } < 30, "\(looks)")
        #expect(looks.contains { $0 > 7_210 && $0 <= 7_270.001 }, "\(looks)")
    }

    /// Nothing to be told once more, and how often that was asked.
    private final class NoReplays: ReplayQueue {
        private let asked = Mutex(0)

        var count: Int { asked.withLock(\.self) }

        func continueReplays() async throws -> Bool {
            asked.withLock { $0 += 1 }
            return false
        }
    }

    @Test func `a service that has nothing to do for ten minutes asks the store every five seconds`() async throws {
        let time = PassingTime(seconds: 600)
        let activity = Activity(mayRest: { true }, now: { time.now }, sleep: { await time.sleep(until: $0) })
        let queue = NoReplays()
        let watch = QueueWatch(
            factory: NOOPMetricsHandler.instance,
            logger: TestDatabase.logger,
            activity: activity
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await Replayer(queue: queue, watch: watch).run() }
            try await eventually("the end") { time.isOver }
            group.cancelAll()
        }
        #expect((115...160).contains(queue.count), "\(queue.count)")
    }

    @Test func `others are told of what is left to them, and not again and again`() {
        let told = Mutex<[NetworkID]>([])
        let time = ManualTime(Timestamp(milliseconds: 0))
        let activity = Activity(tell: { network in told.withLock { $0.append(network) } }, now: time.monotonic)
        let networks = ["acme", "other"].map(NetworkID.init(trusted:))
        for _ in 0..<10 { for network in networks { activity.leave(network) } }
        #expect(told.withLock(\.self) == networks)
        time.advance(by: .milliseconds(300))
        activity.leave(networks[0])
        #expect(told.withLock(\.count) == 3)
    }
}
