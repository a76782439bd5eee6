/// PostgreSQL's own client programs, which the yardsticks are taken with.
enum PostgresTools {
    /// Commits of `pgbench` with the script at a path, one transaction, all clients on two threads, statements prepared: how
    /// many there were, and how many a second without the time to connect.
    /// - Throws: ``BenchmarkFailure`` with what the program said.
    static func transactions(
        on url: String,
        script: String,
        variables: [String: String],
        clients: Int,
        seconds: Int
    ) async throws -> (count: Double, rate: Double) {
        var arguments = ["--no-vacuum", "--protocol=prepared", "--client=\(clients)", "--jobs=2", "--time=\(seconds)"]
        arguments += variables.map { "--define=\($0.key)=\($0.value)" }
        let output = try await Tool.output(of: "pgbench", arguments + ["--file=\(script)", url])
        return try transactions(in: output)
    }

    /// The same in what `pgbench` has said.
    static func transactions(in output: String) throws(BenchmarkFailure) -> (count: Double, rate: Double) {
        guard let count = number(after: "number of transactions actually processed: ", in: output),
            let rate = number(after: "tps = ", in: output)
        else { throw BenchmarkFailure("pgbench said:\n\(output)") }
        return (count, rate)
    }

    /// The time in seconds that one statement takes in `psql`, by its own measurement.
    /// - Throws: ``BenchmarkFailure`` with what the program said.
    static func seconds(of statement: String, on url: String) async throws -> Double {
        let arguments = ["-X", "-q", "-v", "ON_ERROR_STOP=1", "-c", #"\timing on"#, "-c", statement, url]
        let output = try await Tool.output(of: "psql", arguments)
        guard let milliseconds = number(after: "Time: ", in: output) else {
            throw BenchmarkFailure("psql said:\n\(output)")
        }
        return milliseconds / 1000
    }

    private static func number(after label: String, in output: String) -> Double? {
        for line in output.split(separator: "\n") where line.hasPrefix(label) {
            return Double(line.dropFirst(label.count).prefix { $0.isNumber || $0 == "." })
        }
        return nil
    }
}
