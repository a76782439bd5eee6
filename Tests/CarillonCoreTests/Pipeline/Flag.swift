import Synchronization

@testable import CarillonCore

/// Something that a test switches while others look at it.
final class Flag: Sendable {
    private let value: Mutex<Bool>

    init(_ value: Bool) {
        self.value = Mutex(value)
    }

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
