#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

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
