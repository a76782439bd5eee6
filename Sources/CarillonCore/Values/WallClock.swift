#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Where timestamps come from; a closure, so that tests decide what time it is.
///
/// Waiting is done with a `Clock`; this is only for the times that are written down or compared with a sender's.
package struct WallClock: Sendable {
    private let read: @Sendable () -> Timestamp

    package init(_ read: @escaping @Sendable () -> Timestamp) {
        self.read = read
    }

    package func now() -> Timestamp { read() }

    package static let system = WallClock {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
