import ArgumentParser
import CarillonCore
import Foundation

/// `carillon doctor`: says what is wrong, in plain words.
struct DoctorCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor",
        abstract: "Say what is wrong with the configuration, the database, the clock and the ports.",
        discussion: """
            One line for each check. Changes nothing, except that --network may store the token that it shows to Apple, \
            for the service to use. Ends with status 1 when something fails.
            """
    )

    @Option(help: ArgumentHelp("Also try this network's credentials with the push services.", valueName: "id"))
    var network: String?

    @Flag(help: "Also look at all networks, and list those with something wrong, the worst first.")
    var all = false

    func validate() throws {
        if let network, NetworkID(network) == nil { throw ValidationError("--network is a network's id") }
    }

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
                report(FileChecks(settings: settings).findings())
                report(await DatabaseChecks(settings: settings).findings(ofNetworks: all))
                report(await NetworkChecks(settings: settings).findings())
                if let network = network.flatMap({ NetworkID($0) }) {
                    report(await NetworkCredentialChecks(settings: settings, network: network).findings())
                }
            } catch {
                report(error.mistakes.map { .fail("configuration", $0) })
            }
            if failed { throw ExitCode.failure }
        }
    }
}
