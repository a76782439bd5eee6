import CarillonTesting
import Synchronization
import Testing

@testable import CarillonCore

/// The figures of a network are those of its events, added up.
@Suite struct StatisticsTests {
    private static let users = 12

    /// Answers of two providers: everything fails while they are held, then anything may happen.
    private final class Answers: Sendable {
        private let state = Mutex((isHeld: true, random: SplitMix(state: 11), retries: [ProviderName: Int]()))
        var retries: [ProviderName: Int] { state.withLock(\.retries) }

        func release() { state.withLock { $0.isHeld = false } }

        func provider(_ name: ProviderName) -> ScriptedProvider {
            ScriptedProvider(name: name) { [self] _, _ in
                state.withLock { state in
                    let draw = Int.random(in: 0..<100, using: &state.random)
                    if state.isHeld || draw < 20 {
                        state.retries[name, default: 0] += 1
                        return .retry(after: nil, reason: "busy")
                    }
                    return draw < 35 ? .unsendable(reason: "too large") : .delivered(id: nil)
                }
            }
        }
    }

    @Test func `figures are those of the events, added up`() async throws {
        let answers = Answers()
        try await PipelineScene.run(members: 0, providers: [answers.provider(.log), answers.provider(.fcm)]) { scene in
            try await Self.populate(scene)
            var events: [EventID] = []
            for _ in 0..<15 { events.append(try await scene.post()) }
            try await eventually { answers.retries.count == 2 }
            // Some are switched off while their notifications wait, some of these have several devices.
            for user in [1, 4, 7] { try await Self.forbid(.user(Self.user(user)), scene) }
            try await Self.forbid(.channel(Self.user(5), "general"), scene)
            for _ in 0..<5 { events.append(try await scene.post()) }
            answers.release()
            var statuses: [EventStatus] = []
            for event in events { statuses.append(try await scene.finished(event)) }
            // What was given up is sent once more, whatever comes of it.
            for letter in try await scene.store.history.deadLetters(in: scene.network, after: nil, limit: 4) {
                let lane = try #require(try await scene.store.history.reviveDeadLetter(letter.id, in: scene.network))
                scene.recorder.revived(lane)
            }
            statuses = []
            for event in events { statuses.append(try await scene.finished(event)) }
            #expect(try await scene.postAgain().status == .duplicate)
            try await Self.compare(statuses, scene, retries: answers.retries)
        }
    }

    @Test func `latency is that of what was handed over`() async throws {
        let isBroken = Flag(true)
        let provider = ScriptedProvider { _, _ in
            isBroken.isSet ? .misconfigured(reason: "403 InvalidProviderToken") : .delivered(id: nil)
        }
        try await PipelineScene.run(members: 3, provider: provider) { scene in
            let event = try await scene.post()
            for tries in [4, 5] {
                _ = try await eventually { () -> Bool? in
                    if let open = scene.lanes.statuses.first(where: { $0.circuit == .open }) {
                        await scene.lanes.credentialConfirmed(LaneSelection(open.lane))
                        try await Task.sleep(for: .milliseconds(20))
                    }
                    return provider.devices.count >= tries ? true : nil
                }
                isBroken.clear()
            }
            // Nothing is on its way any more while both are counted.
            _ = try await scene.finished(event)
            let reader = StatisticsReader(recorder: scene.recorder, store: scene.store.statistics)
            let latency = try await Self.total(reader, scene).latency
            #expect(latency.counts.values.reduce(0, +) == provider.devices.count, "a lane is tried with one device")
        }
    }

    private static func user(_ number: Int) -> UserID { UserID(trusted: "user-\(number)") }

    /// Every third one has devices of both providers, every fourth one has none.
    private static func populate(_ scene: PipelineScene) async throws {
        try await scene.store.directory.replaceMembers(of: "general", with: (0..<users).map(user), in: scene.network)
        for number in 0..<users where number % 4 != 3 {
            let addresses: [DeviceAddress] = [.log, .fcm(token: "token-\(number)", appID: "app")]
            for (index, address) in addresses.enumerated() where number % 3 == 1 || number % 2 == index {
                let device = Device("d-\(number)-\(index)", of: user(number), address)
                _ = try await scene.store.devices.putDevice(device, in: scene.network)
            }
        }
    }

    private static func forbid(_ scope: ToggleScope, _ scene: PipelineScene) async throws {
        try await scene.store.toggles.set(scope, to: ["enabled": false], in: scene.network)
    }

    private static func compare(
        _ statuses: [EventStatus],
        _ scene: PipelineScene,
        retries: [ProviderName: Int]
    ) async throws {
        var expected = StatisticsFigures.Recipients()
        var deliveries: [ProviderName: StatisticsFigures.Deliveries] = [:]
        for status in statuses {
            expected.notified += status.recipients.notified
            expected.noDevice += status.recipients.noDevice
            expected.suppressed.merge(status.recipients.suppressed, uniquingKeysWith: +)
            let devices = try await scene.store.history.deliveries(
                of: status.id,
                in: scene.network,
                matching: DeliveryFilter(),
                after: nil,
                limit: 100
            )
            for delivery in devices?.items ?? [] {
                var counts = deliveries[delivery.provider, default: .init()]
                switch delivery.record.state {
                case .delivered: counts.delivered += 1
                case .unregistered: counts.unregistered += 1
                case .expired: counts.expired += 1
                case .dead: counts.dead += 1
                case .pending, .suppressed: break
                }
                deliveries[delivery.provider] = counts
            }
        }
        for (provider, count) in retries { deliveries[provider, default: .init()].retries = count }
        expected.suppressed = expected.suppressed.filter { $0.value != 0 }
        // An event is done when that is written, and counted right after it.
        let figures = try await eventually { () -> StatisticsFigures? in
            let figures = try await total(
                StatisticsReader(recorder: scene.recorder, store: scene.store.statistics),
                scene
            )
            return figures.recipientsOfAll == expected && figures.deliveries == deliveries ? figures : nil
        }
        #expect(figures.events == [.messageSent: .init(accepted: statuses.count, duplicate: 1)])
        #expect(figures.recipients.keys.map(\.module) == [.chat])
        #expect(figures.latency.counts.values.reduce(0, +) > statuses.count)
        #expect(expected.suppressed[.user, default: 0] > 0 && expected.suppressed[.channel, default: 0] > 0)
        #expect(deliveries.values.contains { $0.dead > 0 })
        let writer = StatisticsWriter(
            recorder: scene.recorder,
            log: scene.store.statistics,
            logger: TestDatabase.logger
        )
        await writer.write(includingThisMinute: true)
        let elsewhere = StatisticsReader(recorder: StatisticsRecorder(), store: scene.store.statistics)
        #expect(try await total(elsewhere, scene).stored == figures.stored)
    }

    private static func total(_ reader: StatisticsReader, _ scene: PipelineScene) async throws -> StatisticsFigures {
        let now = WallClock.system.now()
        let points = try await reader.points(
            of: scene.network,
            from: now - .seconds(7200),
            to: now + .seconds(7200),
            step: .hour
        )
        var total = StatisticsFigures()
        for point in points { total.add(point.figures) }
        return total
    }
}

extension StatisticsFigures {
    fileprivate var recipientsOfAll: Recipients {
        var all = Recipients()
        for counts in recipients.values { all.add(counts) }
        all.suppressed = all.suppressed.filter { $0.value != 0 }
        return all
    }
}

extension StatisticsFigures.Acceptances {
    fileprivate init(accepted: Int, duplicate: Int) {
        self.init()
        (self.accepted, self.duplicate) = (accepted, duplicate)
    }
}
