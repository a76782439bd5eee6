import ArgumentParser
import CarillonCore
import CarillonProviders
import Foundation
import Logging

/// `carillon demo`: plays the main job, on a service of its own or on one that runs.
struct DemoCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "demo",
        abstract: "Play the main job: three events in, the right notifications out, each toggle once.",
        discussion: """
            Starts a service on a throw-away database, unless --url names one that runs. Makes a network, uses it and \
            removes it again.
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
                let client = DemoClient(base: url, operatorToken: secret, terminal: terminal)
                try await DemoScript(client: client, logLines: nil, terminal: terminal).play()
            } else {
                terminal.line("Starting a service on a throw-away database …")
                try await DemoService.withService { client, logLines in
                    try await DemoScript(client: client, logLines: logLines, terminal: terminal).play()
                }
            }
        }
    }
}
