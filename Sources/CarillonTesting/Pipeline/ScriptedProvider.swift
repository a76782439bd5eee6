package import CarillonCore
import Synchronization

/// A provider that answers as a test says and remembers what it was given.
package final class ScriptedProvider: Provider {
    /// What becomes of the n-th attempt on a device.
    package typealias Script = @Sendable (_ target: Target, _ attempt: Int) -> Outcome

    package let name: ProviderName
    /// Longer than any test.
    package let deadline = Duration.seconds(5)
    private let script: Script
    private let gate = Mutex<(isClosed: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    private let taken = Mutex<[(device: DeviceID, event: EventID, notification: Notification)]>([])

    /// A provider by its script; one that is not open lets nothing through yet.
    package init(
        name: ProviderName = .log,
        isOpen: Bool = true,
        _ script: @escaping Script = { _, _ in .delivered(id: nil) }
    ) {
        self.name = name
        self.script = script
        if !isOpen { gate.withLock { $0.isClosed = true } }
    }

    /// The devices that were sent to, in order.
    package var devices: [DeviceID] { taken.withLock { $0.map(\.device) } }

    /// What was sent for an event, in order.
    package func sent(for event: EventID) -> [(device: DeviceID, notification: Notification)] {
        taken.withLock { taken in taken.filter { $0.event == event }.map { ($0.device, $0.notification) } }
    }

    /// How many sends wait at the gate.
    package var waiting: Int { gate.withLock { $0.waiting.count } }

    /// Lets nothing through from now on.
    package func close() { gate.withLock { $0.isClosed = true } }

    /// Lets everything through from now on.
    package func open() {
        let waiting = gate.withLock { gate in
            gate.isClosed = false
            defer { gate.waiting = [] }
            return gate.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Waits at the gate, and then does as the script says.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await withCheckedContinuation { continuation in
            let passes = gate.withLock { gate in
                if gate.isClosed { gate.waiting.append(continuation) }
                return !gate.isClosed
            }
            if passes { continuation.resume() }
        }
        for target in group.targets {
            taken.withLock { $0.append((target.deviceID, group.cause.eventID, group.sent.push.notification)) }
            report(target, script(target, group.attempt + 1))
        }
    }
}
