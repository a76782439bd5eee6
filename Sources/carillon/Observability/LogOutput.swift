import CarillonCore
import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes lines to a file descriptor, on a thread of its own: nobody who logs ever waits for whoever reads the log.
///
/// A pipe that nobody reads takes 64 KB and then blocks its writer. So lines wait in memory, up to a limit; further ones
/// are dropped and counted, and one line says how many there were when there is somebody again who reads.
final class LogOutput: Sendable {
    static let standardError = LogOutput(descriptor: STDERR_FILENO)

    /// Says in one line that so many lines are missing before it.
    typealias LossReport = @Sendable (Int) -> [UInt8]

    private struct State {
        var waiting: [UInt8] = []
        /// Lines that were dropped and not reported yet.
        var lost = 0
        var report: LossReport?
        /// Lines that were ever dropped.
        var dropped = 0
        var isWriting = false
    }

    private let descriptor: Int32
    private let limit: Int
    private let thread = NIOThreadPool(numberOfThreads: 1)
    private let state = Mutex(State())

    /// - Parameters:
    ///   - descriptor: Where to write; it stays the caller's and must stay open. Signals for closed pipes are ignored.
    ///   - limit: How many bytes may wait, besides those that are being written.
    init(descriptor: Int32, limit: Int = 1 << 20) {
        self.descriptor = descriptor
        self.limit = limit
        thread.start()
    }

    deinit {
        thread.shutdownGracefully { _ in }
    }

    var dropped: Int { state.withLock { $0.dropped } }

    /// Takes a line, which ends with a line feed, or drops it; returns at once.
    func write(_ line: [UInt8], report: @escaping LossReport) {
        let begins = state.withLock { state in
            guard state.waiting.count + line.count <= limit else {
                state.lost += 1
                state.dropped += 1
                state.report = report
                return false
            }
            state.waiting += line
            if state.isWriting { return false }
            state.isWriting = true
            return true
        }
        if begins { thread.submit { [self] _ in writeWaiting() } }
    }

    /// Waits until everything is written, but not for longer than `limit`: for the end of the process.
    func flush(within limit: Duration) async {
        // Also for a task that is cancelled.
        _ = await Task { await waits(atMost: limit) { state.withLock { !$0.isWriting } } }.value
    }

    private func writeWaiting() {
        while let lines = take() {
            if write(lines) { continue }
            // Nobody will ever read them, such as after the other end of a pipe was closed.
            state.withLock { $0.dropped += lines.count { $0 == UInt8(ascii: "\n") } }
        }
    }

    /// What waits, with the report of what was dropped after it; `nil` when there is nothing.
    private func take() -> [UInt8]? {
        state.withLock { state in
            var lines = state.waiting
            if state.lost > 0, let report = state.report { lines += report(state.lost) }
            state.waiting.removeAll(keepingCapacity: lines.count < 65_536)
            state.lost = 0
            state.report = nil
            state.isWriting = !lines.isEmpty
            return lines.isEmpty ? nil : lines
        }
    }

    /// Whether all of it is out, however long that took.
    private func write(_ lines: [UInt8]) -> Bool {
        var rest = lines[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest.removeFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody who shares the descriptor does not want to wait, but this thread has nothing else to do.
                var status = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&status, 1, -1)
            default: return false
            }
        }
        return true
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
