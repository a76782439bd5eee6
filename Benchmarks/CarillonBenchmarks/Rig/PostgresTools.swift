import Foundation
import Subprocess

/// PostgreSQL's own client programs, which the yardsticks are taken with.
enum PostgresTools {
    /// Commits a second of `pgbench` with a script, all clients on two threads, statements prepared.
    ///
    /// - Parameters:
    ///   - url: The server.
    ///   - script: The path of the script: one transaction.
    ///   - variables: Values for the script's variables.
    ///   - clients: How many connections there are.
    ///   - seconds: How long it runs.
    /// - Returns: The rate without the time to connect.
    /// - Throws: ``BenchmarkFailure`` with what the program said.
    static func transactionsPerSecond(
        on url: String,
        script: String,
        variables: [String: String],
        clients: Int,
        seconds: Int
    ) async throws -> Double {
        var arguments = ["--no-vacuum", "--protocol=prepared", "--client=\(clients)", "--jobs=2", "--time=\(seconds)"]
        arguments += variables.map { "--define=\($0.key)=\($0.value)" }
        let output = try await outputOf("pgbench", arguments + ["--file=\(script)", url])
        guard let rate = number(after: "tps = ", in: output) else { throw BenchmarkFailure("pgbench said:\n\(output)") }
        return rate
    }

    /// The time in seconds that one statement takes in `psql`, by its own measurement.
    /// - Throws: ``BenchmarkFailure`` with what the program said.
    static func seconds(of statement: String, on url: String) async throws -> Double {
        let arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", #"\timing on"#, "-c", statement, url]
        let output = try await outputOf("psql", arguments)
        guard let milliseconds = number(after: "Time: ", in: output) else {
            throw BenchmarkFailure("psql said:\n\(output)")
        }
        return milliseconds / 1000
    }

    // Nothing else is handed on: PGOPTIONS, for example, could make commits cheaper for the yardstick alone.
    private static var path: String { ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin" }

    private static func outputOf(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await run(
            .name(program),
            arguments: Arguments(arguments),
            environment: .custom(["PATH": path, "LC_ALL": "C"]),
            output: .string(limit: 1 << 20),
            error: .combinedWithOutput
        )
        guard result.terminationStatus == .exited(0) else {
            throw BenchmarkFailure("\(program) failed:\n\(result.standardOutput)")
        }
        return result.standardOutput
    }

    private static func number(after label: String, in output: String) -> Double? {
        for line in output.split(separator: "\n") where line.hasPrefix(label) {
            return Double(line.dropFirst(label.count).prefix { $0.isNumber || $0 == "." })
        }
        return nil
    }
}
