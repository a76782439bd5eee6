import ArgumentParser
import CarillonCore
import Foundation

/// Measures Carillon against yardsticks that are taken in the same run.
struct CarillonBenchmarks: AsyncParsableCommand, Sendable {
    static let configuration = CommandConfiguration(
        commandName: "carillon-benchmarks",
        abstract: "Measures Carillon against yardsticks that are taken in the same run.",
        discussion: """
            Starts a PostgreSQL and a Carillon of its own on loopback and throws them away afterwards. Needs the \
            programs of a PostgreSQL server, psql and pgbench. Ends with status 1 when a benchmark has no result; \
            a goal that is missed is in the table.
            """
    )

    @Argument(help: "What to measure: \(BenchmarkName.list); everything, unless named.")
    var names: [BenchmarkName] = []

    @OptionGroup var scale: Scale

    @Option(help: "The program carillon; the one beside this program, unless given.")
    var program: String?

    @Option(help: "The checkout, in which the program finds what comes with it.")
    var resources = "."

    @Option(help: "Where to put what is thrown away: on the disk that is to be measured.")
    var temporary = "/tmp"

    @Flag(help: "End with status 1 when a goal or limit is missed, too.")
    var strict = false

    @Flag(help: "Print JSON instead of a table.")
    var json = false

    func validate() throws {
        guard scale.against == nil || names == [.cpu] else { throw ValidationError("--against is for cpu alone") }
    }

    func run() async throws {
        do {
            try await cancelledByInterrupts { try await measure() }
        } catch is CancellationError {
            // As a shell reports a program that SIGINT has ended.
            throw ExitCode(130)
        }
    }

    private func measure() async throws {
        let benchmarks = names.isEmpty ? BenchmarkName.allCases : names
        var reports: [Report] = []
        var failed = false
        let program = try program ?? Self.programBeside()
        try await Workshop.withWorkshop(program: program, resources: resources, temporary: temporary) { workshop in
            for name in benchmarks {
                workshop.say("Measuring \(name.rawValue)")
                do {
                    reports.append(try await name.benchmark(scale: scale).report(in: workshop))
                } catch let error as CancellationError {
                    throw error
                } catch {
                    failed = true
                    workshop.say("\(name.rawValue) has no result: \(error)")
                }
            }
        }
        if !reports.isEmpty { print(text(of: reports), terminator: "") }
        if failed || strict && reports.contains(where: \.hasMissedGoals) { throw ExitCode.failure }
    }

    private func text(of reports: [Report]) -> String {
        let machine = MachineDescription(temporary: temporary)
        guard json else { return "\(ReportTable(machine: machine, reports: reports))" }
        let result: JSONValue = ["machine": machine.json, "benchmarks": .array(reports.map(\.json))]
        return result.serializedText + "\n"
    }

    private static func programBeside() throws -> String {
        guard let own = Bundle.main.executableURL else { throw ValidationError("--program is needed") }
        return own.resolvingSymlinksInPath().deletingLastPathComponent().appendingPathComponent("carillon").path
    }
}
