#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// Waits for a socket on the calling thread.
enum SocketWaiter {
    enum Readiness {
        case ready, timedOut, failed
    }

    /// Waits until there is something to read, which the end of the stream is too, or, if asked to, room to write.
    static func wait(for socket: Int32, orToWrite: Bool = false, timeout: Duration) -> Readiness {
        guard socket >= 0 else { return .failed }
        let deadline = ContinuousClock.now + timeout
        var descriptor = pollfd(fd: socket, events: Int16(POLLIN | (orToWrite ? POLLOUT : 0)), revents: 0)
        while true {
            let remaining = max(.zero, deadline - .now)
            switch poll(&descriptor, 1, Int32(clamping: remaining.roundedUpMilliseconds)) {
            case 0:
                if remaining == .zero || deadline <= .now { return .timedOut }
            case 1...:
                return .ready
            default:
                guard errno == EINTR else { return .failed }
            }
        }
    }

    /// Waits until there is something to read, which the end of the stream is too, however long that takes; `timedOut` when the
    /// alarm has ended that.
    static func wait(for socket: Int32, until alarm: SocketAlarm) -> Readiness {
        guard socket >= 0 else { return .failed }
        var descriptors = [socket, alarm.descriptor].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        while poll(&descriptors, 2, -1) < 0 {
            guard errno == EINTR else { return .failed }
        }
        return descriptors[0].revents == 0 ? .timedOut : .ready
    }
}

/// Ends a thread's wait for its socket from another thread, so that the wait itself needs no end.
///
/// Once it has rung, it rings for good.
final class SocketAlarm: Sendable {
    /// Can be read from when it has rung.
    let descriptor: Int32
    private let bell: Int32

    /// An alarm; `nil` when the system has no descriptors left.
    init?() {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (descriptor, bell) = (ends[0], ends[1])
    }

    deinit {
        close(descriptor)
        close(bell)
    }

    /// Ends the wait, also one that begins later.
    func ring() {
        var byte: UInt8 = 1
        _ = write(bell, &byte, 1)
    }
}
