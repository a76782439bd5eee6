import NIOCore
import Synchronization

/// The connections that clients have open, in whatever version of HTTP: never more than so many to all hosts, nor to one.
///
/// Users choose hosts, and each connection takes a file descriptor, of which the process has few. When there are too many,
/// connections without a request make room, those first that were used longest ago. When all are in use, whoever needs
/// another one waits in line, of which each host has its own: they are served in turns, so that one host that takes
/// connections and never answers holds up nobody but itself.
final class OpenConnections: Sendable {
    /// What somebody who needed a connection gets.
    enum Turn: Sendable {
        /// A place for a connection that is to be opened; ``opened(_:to:)`` or ``notOpened(to:)`` says what became of it.
        case place
        /// A connection to the same host that carries no request any more.
        case connection(HTTPConnection)
    }

    private let state: Mutex<OpenConnectionsState>

    /// - Parameters:
    ///   - maximum: How many there are at a time, those included that are being opened.
    ///   - maximumPerHost: How many of them to one host.
    init(maximum: Int, maximumPerHost: Int) {
        state = Mutex(OpenConnectionsState(maximum: maximum, maximumPerHost: maximumPerHost))
    }

    /// As many as a policy permits.
    convenience init(_ policy: ConnectionPolicy) {
        self.init(maximum: policy.maximumOpenConnections, maximumPerHost: policy.maximumOpenConnectionsPerHost)
    }

    /// How many places are taken.
    var count: Int { state.withLock { $0.taken } }
    /// How many wait in line.
    var waiting: Int { state.withLock { $0.waiting } }

    /// A place for a connection that is to be opened, or one that has become free meanwhile.
    /// - Returns: Fails as ``OutboundError/timedOut`` if there is none until the deadline.
    func place(for origin: Origin, on eventLoop: any EventLoop, until deadline: NIODeadline) -> EventLoopFuture<Turn> {
        let ticket = state.withLock { state in
            state.takePlace(for: origin) ? nil : state.queue(for: origin, eventLoop.makePromise())
        }
        guard let ticket else { return eventLoop.makeSucceededFuture(.place) }
        let timer = eventLoop.scheduleTask(deadline: deadline) {
            let promise = self.state.withLock { $0.withdraw(ticket.number, for: origin) }
            promise?.fail(OutboundError.timedOut)
        }
        ticket.promise.futureResult.whenComplete { _ in timer.cancel() }
        makeRoom(for: origin)
        return ticket.promise.futureResult
    }

    /// The place is taken by a connection, for as long as its channel is open.
    func opened(_ channel: any Channel, to origin: Origin) {
        let id = ObjectIdentifier(channel)
        state.withLock { $0.open[id] = origin }
        channel.closeFuture.whenComplete { _ in
            for promise in self.state.withLock({ $0.closed(id) }) { promise.succeed(.place) }
        }
    }

    /// No connection came about: the place is free.
    func notOpened(to origin: Origin) {
        for promise in state.withLock({ $0.vacate(origin) }) { promise.succeed(.place) }
    }

    /// Gives a connection that carries no request any more to the next one in line for its host.
    ///
    /// Not while its host has more than its share and others wait.
    /// - Returns: Whether somebody has it now.
    func handOver(_ connection: HTTPConnection) -> Bool {
        let next = state.withLock { $0.nextToUse(ObjectIdentifier(connection.channel)) }
        next?.succeed(.connection(connection))
        return next != nil
    }

    /// A connection carries no request any more, and nobody waits for it.
    ///
    /// That it does again need not be said: `spare` finds out. Called without locks that this one takes.
    func isIdle(_ channel: any Channel, _ spare: SpareConnection) {
        let wanting = state.withLock { $0.isIdle(ObjectIdentifier(channel), spare) }
        if let wanting { makeRoom(for: wanting) }
    }

    /// Finds something for the first one in line for a host.
    private func makeRoom(for origin: Origin) {
        while let spare = state.withLock({ $0.takeSpare(of: origin) }) {
            if let connection = spare.take() {
                if !handOver(connection) { connection.close() }
                return
            }
            if spare.retire() { return }
        }
        while let spare = state.withLock({ $0.takeLongestSpare(for: origin) }) {
            if spare.retire() { return }
        }
    }
}

/// How to get hold of a connection that carried no request a moment ago.
struct SpareConnection: Sendable {
    /// Takes it for the next request to its host; `nil` when it carries one again, or is one that is shared.
    var take: @Sendable () -> HTTPConnection? = { nil }
    /// Ends it if it carries no request; whether it did.
    let retire: @Sendable () -> Bool
}
