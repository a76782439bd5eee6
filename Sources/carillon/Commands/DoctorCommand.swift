import ArgumentParser
import Foundation

/// `carillon doctor`: says what is wrong, in plain words.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what is wrong with the configuration, the database, the clock and the ports.",
        discussion: "One line for each check. Changes nothing. Ends with status 1 when something fails."
    )

    func run() async throws {
        try await reportingErrors {
            let terminal = Terminal()
            var failed = false
            func report(_ findings: [Finding]) {
                for finding in findings { terminal.show(finding) }
                failed = failed || findings.contains { $0.verdict == .fail }
            }
            do throws(ConfigurationError) {
                let settings = try Settings(environment: ProcessInfo.processInfo.environment)
                report([.ok("configuration", "complete")])
                report(FileChecks(settings).findings())
                report(await DatabaseChecks(settings).findings())
                report(await NetworkChecks(settings).findings())
            } catch {
                report(error.mistakes.map { .fail("configuration", $0) })
            }
            if failed { throw ExitCode.failure }
        }
    }
}
