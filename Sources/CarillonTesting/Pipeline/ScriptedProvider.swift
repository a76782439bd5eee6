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
    private let turnstile: Turnstile
    private let taken = Mutex<[(device: DeviceID, event: EventID, notification: Notification)]>([])

    /// A provider by its script; one that is not open lets nothing through yet.
    package init(
        name: ProviderName = .log,
        isOpen: Bool = true,
        _ script: @escaping Script = { _, _ in .delivered(id: nil) }
    ) {
        self.name = name
        self.script = script
        turnstile = Turnstile(isOpen: isOpen)
    }

    /// The devices that were sent to, in order.
    package var devices: [DeviceID] { taken.withLock { $0.map(\.device) } }

    /// What was sent for an event, in order.
    package func sent(for event: EventID) -> [(device: DeviceID, notification: Notification)] {
        taken.withLock { taken in taken.filter { $0.event == event }.map { ($0.device, $0.notification) } }
    }

    /// How many sends wait at the turnstile.
    package var waiting: Int { turnstile.waiting }

    /// Lets nothing through from now on.
    package func close() { turnstile.close() }

    /// Lets everything through from now on.
    package func open() { turnstile.open() }

    /// Waits at the gate, and then does as the script says.
    package func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await turnstile.pass()
        for target in group.targets {
            taken.withLock { $0.append((target.deviceID, group.cause.eventID, group.sent.push.notification)) }
            report(target, script(target, group.attempt + 1))
        }
    }
}
