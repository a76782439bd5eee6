import CarillonTesting
import Synchronization

@testable import CarillonCore

/// An endpoint that says what a test wants, when a test wants it.
final class ScriptedCaller: EndpointCaller {
    typealias Script = @Sendable (_ call: EndpointCall) async -> EndpointAnswer

    private let script: Script
    private let turnstile: Turnstile
    private let asked = Mutex<[EndpointCall]>([])

    init(isOpen: Bool = true, _ script: @escaping Script) {
        self.script = script
        turnstile = Turnstile(isOpen: isOpen)
    }

    /// An endpoint that answers everything with the same words.
    convenience init(isOpen: Bool = true, answering body: String) {
        self.init(isOpen: isOpen) { _ in .words(body) }
    }

    /// What it was asked.
    var calls: [EndpointCall] { asked.withLock(\.self) }

    /// How many questions wait for their answer.
    var waiting: Int { turnstile.waiting }

    /// Answers everything from now on.
    func open() { turnstile.open() }

    func call(_ call: EndpointCall) async -> EndpointAnswer {
        await turnstile.pass { asked.withLock { $0.append(call) } }
        return await script(call)
    }
}

extension EndpointAnswer {
    /// An answer of status 200.
    static func words(_ body: String) -> EndpointAnswer {
        EndpointAnswer(.success(Reply(status: 200, body: Array(body.utf8))), time: .milliseconds(1))
    }

    static func failure(_ reason: String, isTimeout: Bool = false) -> EndpointAnswer {
        EndpointAnswer(.failure(Failure(reason: reason, isTimeout: isTimeout)), time: .milliseconds(1))
    }
}

/// Delivers everything and remembers what was sent to whom.
final class PushRecorder: Provider {
    let name = ProviderName.log
    let deadline = Duration.seconds(5)
    private let sent = Mutex<[(device: DeviceID, push: Push)]>([])

    func pushes(to device: DeviceID) -> [Push] { sent.withLock { $0.filter { $0.device == device }.map(\.push) } }

    var devices: [DeviceID] { sent.withLock { $0.map(\.device) } }

    func send(_ group: DeliveryGroup, report: @Sendable @escaping (Target, Outcome) -> Void) async {
        for target in group.targets {
            sent.withLock { $0.append((target.deviceID, group.sent.push)) }
            report(target, .delivered(id: nil))
        }
    }
}

extension JSONValue {
    /// A member of an object; `nil` where there is none.
    subscript(_ key: String) -> JSONValue? {
        guard case .object(let members) = self else { return nil }
        return members[key]
    }
}

/// Something that a test switches while others look at it.
final class Flag: Sendable {
    private let value: Mutex<Bool>

    init(_ value: Bool) { self.value = Mutex(value) }

    var isSet: Bool { value.withLock(\.self) }

    func set() { value.withLock { $0 = true } }

    func clear() { value.withLock { $0 = false } }
}

/// Ids that concurrent tasks collect.
final class AcceptedIDs: Sendable {
    private let ids = Mutex<[EventID]>([])

    var all: [EventID] { ids.withLock(\.self) }

    func add(_ id: EventID) { ids.withLock { $0.append(id) } }
}
