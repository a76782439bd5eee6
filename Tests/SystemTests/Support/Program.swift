import Foundation
import Synchronization
import Testing

/// The built program as a child process, with its output in files.
final class Program: Sendable {
    /// Where the program was built: beside the tests.
    static let path = Bundle.main.bundleURL.appendingPathComponent("carillon").path

    private let process: Mutex<Process>
    let processID: Int32
    let standardOutput: String
    let standardError: String

    /// Starts the program.
    ///
    /// - Parameters:
    ///   - arguments: Its arguments.
    ///   - environment: Its `CARILLON_…` variables; it has no others but PATH, HOME and TMPDIR.
    ///   - scratch: Where its output goes, and what it makes for a while.
    ///   - prelude: What a shell does before it becomes the program, such as setting limits.
    /// - Throws: When it cannot be started.
    init(_ arguments: [String], environment: [String: String], scratch: Scratch, prelude: String? = nil) throws {
        let name = UUID().uuidString
        standardOutput = scratch.path("\(name).out")
        standardError = scratch.path("\(name).err")
        let process = Process()
        process.executableURL = URL(fileURLWithPath: prelude == nil ? Self.path : "/bin/sh")
        process.arguments = (prelude.map { ["-c", "\($0); exec \"$0\" \"$@\"", Self.path] } ?? []) + arguments
        var inherited = ProcessInfo.processInfo.environment.filter { ["PATH", "HOME"].contains($0.key) }
        inherited["TMPDIR"] = scratch.path
        process.environment = environment.merging(inherited) { own, _ in own }
        process.standardOutput = try Self.handle(to: standardOutput)
        process.standardError = try Self.handle(to: standardError)
        try process.run()
        processID = process.processIdentifier
        self.process = Mutex(process)
    }

    deinit {
        send(SIGKILL)
    }

    var errorText: String { (try? String(contentsOfFile: standardError, encoding: .utf8)) ?? "" }

    var outputText: String { (try? String(contentsOfFile: standardOutput, encoding: .utf8)) ?? "" }

    var isRunning: Bool { process.withLock { $0.isRunning } }

    func send(_ signal: Int32) {
        #if canImport(Glibc)
            Glibc.kill(processID, signal)
        #else
            Darwin.kill(processID, signal)
        #endif
    }

    /// Ends it at once, when nothing is left to be seen.
    func kill() { send(SIGKILL) }

    /// Waits until it has ended, and answers the status, or the negative signal that ended it.
    func exitStatus(within limit: Duration = .seconds(30)) async throws -> Int32 {
        try await eventually(within: limit, "the end of the program") { !self.isRunning }
        return process.withLock { process in
            process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        }
    }

    private static func handle(to path: String) throws -> FileHandle {
        try Data().write(to: URL(fileURLWithPath: path))
        return try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    }
}
