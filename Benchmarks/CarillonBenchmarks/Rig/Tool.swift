import Foundation
import Subprocess

/// Programs that do a part of a benchmark, or of looking at what it has found.
enum Tool {
    // Nothing else is handed on: PGOPTIONS, for example, could make commits cheaper for the yardstick alone.
    private static var path: String { ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin" }

    /// What a program says on standard output, 256 MiB at the most.
    /// - Throws: ``BenchmarkFailure`` with what it said where it failed.
    static func output(of program: String, _ arguments: [String], reading input: String = "") async throws -> String {
        let result = try await run(
            .name(program),
            arguments: Arguments(arguments),
            environment: .custom(["PATH": path, "LC_ALL": "C"]),
            input: .string(input),
            output: .string(limit: 1 << 28),
            error: .string(limit: 1 << 20)
        )
        guard result.terminationStatus == .exited(0) else {
            throw BenchmarkFailure("\(program) failed:\n\(result.standardOutput)\(result.standardError)")
        }
        return result.standardOutput
    }
}
