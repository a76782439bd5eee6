import Testing

@testable import Postgres

@Suite(.timeLimit(.minutes(1))) struct SocketAlarmTests {
    /// Readable when it rings, as a socket is to which something was sent.
    private let socket: SocketAlarm
    private let alarm: SocketAlarm

    init() throws {
        socket = try #require(SocketAlarm())
        alarm = try #require(SocketAlarm())
    }

    /// How a wait of a thread of its own ends.
    private func wait() async -> SocketWaiter.Readiness {
        await withCheckedContinuation { continuation in
            let hasStarted = PosixThread.start { [socket, alarm] in
                continuation.resume(returning: SocketWaiter.wait(for: socket.descriptor, until: alarm))
            }
            if !hasStarted { continuation.resume(returning: .failed) }
        }
    }

    @Test func `a wait that has begun ends when the alarm rings`() async {
        async let readiness = wait()
        alarm.ring()
        #expect(await readiness == .timedOut)
    }

    @Test func `once it has rung, no wait begins`() async {
        alarm.ring()
        #expect(await wait() == .timedOut)
        #expect(await wait() == .timedOut)
    }

    @Test func `what has come is read before it ends`() async {
        socket.ring()
        alarm.ring()
        #expect(await wait() == .ready)
    }

    @Test func `a socket that is closed is not waited for`() {
        #expect(SocketWaiter.wait(for: -1, until: alarm) == .failed)
    }
}
