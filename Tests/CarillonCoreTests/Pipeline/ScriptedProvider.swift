import Synchronization

@testable import CarillonCore

/// A provider that answers as a test says and remembers what it was given.
final class ScriptedProvider: Provider {
    typealias Script = @Sendable (_ target: Target, _ attempt: Int) -> Outcome

    let name: ProviderName
    let deadline = Duration.seconds(5)
    private let script: Script
    private let gate = Mutex<(isClosed: Bool, waiting: [CheckedContinuation<Void, Never>])>((false, []))
    private let sent = Mutex<[(device: DeviceID, event: EventID)]>([])

    init(
        name: ProviderName = .log,
        isOpen: Bool = true,
        _ script: @escaping Script = { _, _ in .delivered(id: nil) }
    ) {
        self.name = name
        self.script = script
        if !isOpen { gate.withLock { $0.isClosed = true } }
    }

    /// The devices that were sent to, in order.
    var devices: [DeviceID] { sent.withLock { $0.map(\.device) } }

    /// How many sends wait at the gate.
    var waiting: Int { gate.withLock { $0.waiting.count } }

    /// Lets nothing through from now on.
    func close() { gate.withLock { $0.isClosed = true } }

    /// Lets everything through from now on.
    func open() {
        let waiting = gate.withLock { gate in
            gate.isClosed = false
            defer { gate.waiting = [] }
            return gate.waiting
        }
        for continuation in waiting { continuation.resume() }
    }

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        await withCheckedContinuation { continuation in
            let passes = gate.withLock { gate in
                if gate.isClosed { gate.waiting.append(continuation) }
                return !gate.isClosed
            }
            if passes { continuation.resume() }
        }
        for target in group.targets {
            sent.withLock { $0.append((target.deviceID, group.cause.eventID)) }
            report(target, script(target, group.attempt + 1))
        }
    }
}
