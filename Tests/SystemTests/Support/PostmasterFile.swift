import Foundation

/// The server of a data directory, as its `postmaster.pid` names it.
struct PostmasterFile: Sendable, Equatable {
    let processID: Int32

    /// `nil` when there is no such file.
    init?(dataDirectory: String) {
        let path = "\(dataDirectory)/cluster/postmaster.pid"
        guard let text = try? String(contentsOfFile: path, encoding: .utf8),
            let line = text.split(separator: "\n").first, let number = Int32(line)
        else { return nil }
        processID = number
    }

    var isAlive: Bool { kill(processID, 0) == 0 }

    /// Asks the server to stop: SIGINT is PostgreSQL's fast shutdown, SIGQUIT its immediate one.
    func send(_ signal: Int32) { kill(processID, signal) }

    /// Ends the server with all of its processes, as a power cut would.
    func killAll() { signalAll(SIGKILL) }

    /// Stops the server with all of its processes where they are, as a machine does that swaps or is moved.
    func freezeAll() { signalAll(SIGSTOP) }

    /// Lets a frozen server go on.
    func thawAll() { signalAll(SIGCONT) }

    private func signalAll(_ signal: Int32) {
        for process in [processID] + Self.children(of: processID) { kill(process, signal) }
    }

    private static func children(of parent: Int32) -> [Int32] {
        let entries = (try? FileManager.default.contentsOfDirectory(atPath: "/proc")) ?? []
        return entries.compactMap { Int32($0) }.filter { process in
            let status = try? String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
            // The name is in parentheses and may hold anything; the parent is the second field behind it.
            let fields = status?.split(separator: ")").last?.split(separator: " ") ?? []
            return fields.count > 1 && Int32(fields[1]) == parent
        }
    }
}
