import NIOPosix
import Synchronization

#if canImport(Glibc)
    import Glibc
#else
    import Darwin
#endif

/// Writes whole lines to a file descriptor, one caller at a time, on a thread of its own.
///
/// A reader that falls behind stops this thread, not the ones that run Swift's tasks, and not for longer than each caller
/// is willing to wait: what is no regular file gets no more at a time than `poll(2)` says that it can take.
package final class LineWriter: Sendable {
    struct Result: Sendable {
        /// How many of the bytes are out; a line that is only partly out counts as a whole one that is not.
        var written: Int
        /// Why it is not all of them.
        var failure: String?
    }

    package static let standardOutput = LineWriter(descriptor: STDOUT_FILENO)

    private let descriptor: Int32
    private let isRegularFile: Bool
    private let thread = NIOThreadPool(numberOfThreads: 1)
    /// The rest of a line that was begun: it has to go out before the next line, or that one would be spoilt, too.
    private let rest = Mutex<ArraySlice<UInt8>>([])

    /// A writer to a descriptor, which stays the caller's and must stay open.
    package init(descriptor: Int32) {
        self.descriptor = descriptor
        // Pipes and sockets have no position; terminals have one on some systems.
        isRegularFile = lseek(descriptor, 0, SEEK_CUR) >= 0 && isatty(descriptor) == 0
        thread.start()
    }

    deinit {
        thread.shutdownGracefully { _ in }
    }

    /// Writes lines, each of which ends with a line feed, without any other caller's in between.
    ///
    /// `nil` when the task was cancelled before anything was written.
    func write(_ lines: [UInt8], within limit: Duration) async -> Result? {
        let deadline = ContinuousClock.now + limit
        return try? await thread.runIfActive { self.writeNow(lines, until: deadline) }
    }

    private func writeNow(_ lines: [UInt8], until deadline: ContinuousClock.Instant) -> Result {
        Self.blockPipeSignal()
        return rest.withLock { rest in
            if let failure = write(&rest, until: deadline) { return Result(written: 0, failure: failure) }
            var unwritten = lines[...]
            guard let failure = write(&unwritten, until: deadline) else { return Result(written: lines.count) }
            let written = unwritten.startIndex
            let isBetweenLines = written == 0 || lines[written - 1] == UInt8(ascii: "\n")
            if !isBetweenLines {
                let end = unwritten.firstIndex(of: UInt8(ascii: "\n")) ?? unwritten.endIndex - 1
                rest = unwritten[...end]
            }
            return Result(written: written, failure: failure)
        }
    }

    /// Takes off the front of `bytes` what could be written; says why when it was not all.
    private func write(_ bytes: inout ArraySlice<UInt8>, until deadline: ContinuousClock.Instant) -> String? {
        while !bytes.isEmpty {
            if !isRegularFile, !waitForRoom(until: deadline) { return "output stalled" }
            let piece = isRegularFile ? bytes : bytes.pipeful
            let count = piece.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                bytes.removeFirst(count)
                continue
            }
            switch errno {
            case EINTR, EAGAIN: continue
            case EPIPE: return "output closed"
            case ENOSPC: return "output full"
            default: return "output failed"
            }
        }
        return nil
    }

    private func waitForRoom(until deadline: ContinuousClock.Instant) -> Bool {
        var status = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
        while true {
            let left = (deadline - .now) / .milliseconds(1)
            let ready = poll(&status, 1, Int32(min(max(0, left.rounded(.up)), 60_000)))
            if ready == 0 || (ready < 0 && errno != EINTR) { return false }
            if ready > 0 { return true }
        }
    }

    /// Makes a write to a closed pipe fail on this thread instead of ending the process.
    private static func blockPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}

extension ArraySlice<UInt8> {
    /// The lines that a pipe takes at once if it takes anything (`PIPE_BUF`): writing them does not block, and nobody
    /// else who writes to the pipe comes in between. A longer line goes in parts.
    fileprivate var pipeful: ArraySlice<UInt8> {
        let piece = prefix(Int(PIPE_BUF))
        guard let end = piece.lastIndex(of: UInt8(ascii: "\n")) else { return piece }
        return piece[...end]
    }
}

private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(descriptor, bytes, count)
}
