import DequeModule
import NIOCore
import Synchronization

/// The connections that a client has open, to whatever hosts and in whatever version of HTTP: never more than so many.
///
/// Users choose hosts, and each connection takes a file descriptor, of which the process has few. When there are too many,
/// connections without a request make room, those first that were used longest ago. When all are in use, whoever needs
/// another one waits in line.
final class OpenConnections: Sendable {
    /// Ends a connection if it carries no request; whether it did.
    typealias Retire = @Sendable () -> Bool

    private struct Idle {
        let since: UInt64
        let retire: Retire
    }

    private struct State {
        /// Places that are taken: by what is open, and by what is being opened.
        var taken = 0
        var open: Set<ObjectIdentifier> = []
        var idle: [ObjectIdentifier: Idle] = [:]
        var line: Deque<(number: UInt64, promise: EventLoopPromise<Void>)> = []
        var counter: UInt64 = 0

        mutating func next() -> UInt64 {
            counter += 1
            return counter
        }

        /// The next one in line, whose place it is now; otherwise there is one place more.
        mutating func vacate() -> EventLoopPromise<Void>? {
            if let next = line.popFirst() { return next.promise }
            taken -= 1
            return nil
        }

        /// Takes the connection that is without a request for longest off the list of those.
        mutating func takeLongestIdle() -> Retire? {
            guard let longest = idle.min(by: { $0.value.since < $1.value.since }) else { return nil }
            idle[longest.key] = nil
            return longest.value.retire
        }
    }

    private let maximum: Int
    private let state = Mutex(State())

    /// - Parameter maximum: How many there are at a time, those included that are being opened.
    init(maximum: Int) {
        self.maximum = maximum
    }

    /// How many places are taken.
    var count: Int { state.withLock { $0.taken } }
    /// How many wait in line.
    var waiting: Int { state.withLock { $0.line.count } }

    /// A place for a connection that is to be opened; ``opened(_:)`` or ``notOpened()`` says what became of it.
    /// - Returns: Succeeds when there is one, or fails as ``OutboundError/timedOut``.
    func place(on eventLoop: any EventLoop, until deadline: NIODeadline) -> EventLoopFuture<Void> {
        let ticket: (number: UInt64, promise: EventLoopPromise<Void>)? = state.withLock { state in
            guard state.taken >= maximum else {
                state.taken += 1
                return nil
            }
            let ticket = (number: state.next(), promise: eventLoop.makePromise(of: Void.self))
            state.line.append(ticket)
            return ticket
        }
        guard let ticket else { return eventLoop.makeSucceededVoidFuture() }
        let timer = eventLoop.scheduleTask(deadline: deadline) { self.withdraw(ticket.number) }
        ticket.promise.futureResult.whenComplete { _ in timer.cancel() }
        makeRoom()
        return ticket.promise.futureResult
    }

    /// The place is taken by a connection, for as long as its channel is open.
    func opened(_ channel: any Channel) {
        let id = ObjectIdentifier(channel)
        _ = state.withLock { $0.open.insert(id) }
        channel.closeFuture.whenComplete { _ in self.closed(id) }
    }

    /// No connection came about: the place is free.
    func notOpened() {
        state.withLock { $0.vacate() }?.succeed()
    }

    /// A connection carries no request any more.
    ///
    /// That it does again need not be said: `retire` finds out. Called without locks that this one takes.
    func isIdle(_ channel: any Channel, retire: @escaping Retire) {
        let isWanted = state.withLock { state in
            let id = ObjectIdentifier(channel)
            // It may have closed meanwhile.
            guard state.open.contains(id) else { return false }
            state.idle[id] = Idle(since: state.next(), retire: retire)
            return !state.line.isEmpty
        }
        if isWanted { makeRoom() }
    }

    private func closed(_ id: ObjectIdentifier) {
        let next = state.withLock { state in
            state.open.remove(id)
            state.idle[id] = nil
            return state.vacate()
        }
        next?.succeed()
    }

    private func makeRoom() {
        while let retire = state.withLock({ $0.line.isEmpty ? nil : $0.takeLongestIdle() }) {
            if retire() { return }
        }
    }

    private func withdraw(_ number: UInt64) {
        let ticket = state.withLock { state in
            state.line.firstIndex { $0.number == number }.map { state.line.remove(at: $0) }
        }
        ticket?.promise.fail(OutboundError.timedOut)
    }
}
