import CarillonTesting
import CarillonCore
import Synchronization
import Testing

@testable import CarillonProviders
@testable import PushHTTPTests

@Suite(.timeLimit(.minutes(1))) struct GroupSendingTests {
    private let group = DeliveryGroup.example(to: Array(repeating: .log, count: 100))

    @Test func `does not send the rest once nothing in the lane can succeed, but reports it`() async {
        let sent = Mutex(0)
        let reports = Mutex<[DeviceID: [Outcome]]>([:])
        await group.sendToEach(atMost: 4) { target, outcome in
            reports.withLock { $0[target.deviceID, default: []].append(outcome) }
        } send: { _ in
            sent.withLock { sent in
                sent += 1
                return sent <= 10 ? .delivered(id: nil) : .deferLane(after: .seconds(60), reason: "quota")
            }
        }
        #expect(sent.withLock { $0 } <= 14)
        let outcomes = reports.withLock { $0 }
        #expect(outcomes.count == 100)
        #expect(outcomes.values.allSatisfy { $0.count == 1 })
        #expect(outcomes.values.count { $0 == [.delivered(id: nil)] } == 10)
        #expect(outcomes.values.count { $0 == [.deferLane(after: .seconds(60), reason: "quota")] } == 90)
    }

    @Test func `reports the rest without waiting for what is on its way, which is reported as it ends`() async {
        let rest = Gate(openingAfter: 98)
        let reports = Mutex<[Outcome]>([])
        await group.sendToEach(atMost: 3) { _, outcome in
            reports.withLock { $0.append(outcome) }
            rest.knock()
        } send: { target in
            if target.deviceID == DeviceID(trusted: "d-0") { return .misconfigured(reason: "key") }
            await rest.wait()
            return .delivered(id: nil)
        }
        let outcomes = reports.withLock { $0 }
        #expect(outcomes.prefix(98).allSatisfy { $0 == .misconfigured(reason: "key") })
        #expect(outcomes.suffix(2) == [.delivered(id: nil), .delivered(id: nil)])
    }

    @Test func `goes on after what concerns single devices`() async {
        let outcomes: [Outcome] = [
            .retry(after: nil, reason: ""), .unregister(at: nil, reason: ""), .quarantine(reason: ""), .bug(reason: ""),
        ]
        let next = Mutex(0)
        let count = Mutex(0)
        await group.sendToEach(atMost: 3) { _, _ in
            count.withLock { $0 += 1 }
        } send: { _ in
            next.withLock { next in
                next += 1
                return outcomes[next % outcomes.count]
            }
        }
        #expect(next.withLock { $0 } == 100)
        #expect(count.withLock { $0 } == 100)
    }

    @Test func `reports nothing for what a cancellation ends`() async {
        let started = Gate(openingAfter: 5)
        let task = Task {
            let count = Mutex(0)
            await group.sendToEach(atMost: 5) { _, _ in
                count.withLock { $0 += 1 }
            } send: { _ in
                started.knock()
                await waitUntilCancelled()
                return nil
            }
            return count.withLock { $0 }
        }
        await started.wait()
        task.cancel()
        #expect(await task.value == 0)
    }
}
