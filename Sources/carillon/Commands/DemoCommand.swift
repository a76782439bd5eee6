import ArgumentParser
import CarillonCore
import CarillonProviders
import Foundation
import Logging
import PushHTTP

/// `carillon demo`: plays the main job, on a service of its own or on one that runs.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play the main job: three events in, the right notifications out, each toggle once.",
        discussion: """
            Starts a service on a throw-away database, unless --url names one that runs on this machine and may send to \
            it (CARILLON_EGRESS_ALLOW=127.0.0.0/8). Makes a network, uses it and removes it again. With the service of its own the same events \
            also reach an iPhone, an Android phone and a browser of simulated push services; it sends to a tag and silently, and \
            lets an endpoint observe and another one rewrite and stop messages.
            """
    )

    @Option(help: "Where a running service is, such as http://127.0.0.1:8080.")
    var url: String?

    @Option(help: ArgumentHelp("The running service's file with the operator token.", valueName: "path"))
    var operatorTokenFile = ".carillon/operator-token"

    func run() async throws {
        try await reportingErrors {
            let terminal = Terminal()
            if let url {
                guard let token = try? String(contentsOfFile: operatorTokenFile, encoding: .utf8) else {
                    throw StartError("cannot read \(operatorTokenFile): --operator-token-file names the operator token")
                }
                let secret = Secret(token.trimmingCharacters(in: .whitespacesAndNewlines))
                let service = try RunningService(at: url, tls: .outbound())
                try await DemoScript.play(
                    on: DemoStage(service: service, operatorToken: secret, terminal: terminal)
                )
                terminal.line()
                terminal.line("The rest needs a service of the demo's own, without --url.")
            } else {
                terminal.line("Starting a service on a throw-away database, and simulated push services …")
                try await DemoService.play(on: terminal)
            }
            terminal.line()
            terminal.line(terminal.styled("Everything came out as it should.", .green))
        }
    }
}
