import ArgumentParser
import CarillonCore
import Foundation
import PushHTTP

/// `carillon import-sygnal`: makes bindings and credentials of Sygnal's configuration.
struct ImportSygnalCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "import-sygnal",
        abstract: "Take over the apps of a Sygnal configuration: credentials and bindings of the Matrix face.",
        discussion: """
            Reads the apps of types apns, gcm and webpush with the key files that they name, and calls the API of a running service as \
            its operator: with CARILLON_OPERATOR_TOKEN, or the token in CARILLON_DATA_DIR. Then homeservers' pushers work unchanged \
            once the host name leads here. Can be repeated. Ends with status 1 when an app was left out.
            """
    )

    @Argument(
        help: "Sygnal's configuration. Files that it names are looked for beside it, then from here.",
        completion: .file()
    )
    var file: String

    @Option(help: ArgumentHelp("The network that the apps belong to.", valueName: "id"))
    var network: String

    @Option(help: ArgumentHelp("Where the service is; CARILLON_LISTEN unless it is said.", valueName: "url"))
    var url: String?

    @Flag(help: "Say what would be done, and do nothing.")
    var dryRun = false

    func validate() throws {
        if NetworkID(network) == nil { throw ValidationError("--network is a network's id") }
    }

    func run() async throws {
        try await reportingErrors {
            let terminal = Terminal()
            let sygnal: SygnalFile
            do {
                sygnal = try SygnalFile(yaml: try String(contentsOfFile: file, encoding: .utf8))
            } catch let error as SygnalFile.Unreadable {
                throw StartError("\(file) \(error)")
            } catch {
                throw StartError("\(file) cannot be read")
            }
            let folder = URL(fileURLWithPath: file).deletingLastPathComponent()
            let translation = SygnalTranslation { name in
                let beside = URL(fileURLWithPath: name, relativeTo: folder).path
                return (try? String(contentsOfFile: beside, encoding: .utf8))
                    ?? (try? String(contentsOfFile: name, encoding: .utf8))
            }
            let service = try dryRun ? nil : OperatedNetwork(url: url, network: network)
            if sygnal.hasProxy { terminal.show(.warn("proxy", "is not taken over: push services are called directly")) }
            var hasFailed = false
            for app in sygnal.apps {
                let outcome = translation.outcome(of: app)
                for remark in outcome.remarks { terminal.show(.warn(app.name, remark)) }
                var problem = outcome.problem
                for call in outcome.calls where problem == nil {
                    terminal.line("PUT \(OperatedNetwork.path(of: network))\(call.path) \(call.shown.serializedText)")
                    if let answer = try await service?.call(.put, call.path, .object(call.body)), answer.status >= 300 {
                        problem = answer.problem
                    }
                }
                if let problem {
                    hasFailed = true
                    terminal.show(.fail(app.name, problem))
                } else {
                    terminal.show(.ok(app.name, dryRun ? "would be taken over" : "taken over"))
                }
            }
            if hasFailed { throw ExitCode.failure }
        }
    }
}
