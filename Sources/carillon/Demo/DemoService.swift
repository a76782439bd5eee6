import CarillonCore
import CarillonProviders
import CarillonSimulator
import Foundation
import Logging
import PushHTTP

/// A service of the demo's own, on a database that is gone afterwards.
enum DemoService {
    /// Plays the demo on a service and simulated push services, all of which end with it.
    /// - Throws: What does not come out as told, and why the services cannot run.
    static func play(on terminal: Terminal) async throws {
        let scratch = try ScratchDirectory()
        defer { scratch.remove() }
        // With the database: whoever removes that when the demo was killed removes these files, too.
        var configuration = SimulatorConfiguration()
        configuration.directory = "\(scratch.path)/push-services"
        try await Simulator.withSimulator(configuration) { simulator in
            try await play(on: terminal, with: simulator, in: scratch)
        }
    }

    private static func play(
        on terminal: Terminal,
        with simulator: Simulator,
        in scratch: ScratchDirectory
    ) async throws {
        let lines = "\(scratch.path)/log-lines"
        let descriptor = open(lines, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw StartError("cannot write to \(lines)") }
        defer { close(descriptor) }
        var settings = try Settings(environment: environment("\(scratch.path)/data", simulator))
        settings.throwAwayDirectory = scratch.path
        let composition = try Composition(
            settings,
            output: LineWriter(descriptor: descriptor),
            logger: .standardError(settings)
        )
        try await play(on: composition) { service in
            let stage = DemoStage(service: service, operatorToken: composition.operatorToken, terminal: terminal)
            try await DemoScript.play(on: stage, with: simulator, logFile: lines)
        }
    }

    /// Runs a service until the script has ended, and then stops it as a signal does, whether the script failed or not:
    /// merely cancelled, it would leave work undone.
    private static func play(
        on composition: Composition,
        _ script: @escaping @Sendable (RunningService) async throws -> Void
    ) async throws {
        let first = await withTaskGroup(of: (isScript: Bool, result: Result<Void, any Error>).self) { group in
            group.addTask { (false, await result { try await composition.run() }) }
            group.addTask {
                let ending = await result {
                    guard let address = await address(of: composition) else { throw CancellationError() }
                    try await script(RunningService(at: "http://\(address)", tls: .outbound()))
                }
                return (true, ending)
            }
            let first = await group.next()
            if first?.isScript == true { await composition.stop() } else { group.cancelAll() }
            await group.waitForAll()
            return first
        }
        guard let first else { throw CancellationError() }
        try first.result.get()
        if !first.isScript { throw StartError("the service has stopped") }
    }

    private static func address(of composition: Composition) async -> ListenAddress? {
        let readiness = composition.readiness
        guard await waits(until: { readiness[.open] != nil && readiness.problem == nil }) else { return nil }
        return readiness[.open]
    }

    private static func result(_ work: () async throws -> Void) async -> Result<Void, any Error> {
        do {
            return .success(try await work())
        } catch {
            return .failure(error)
        }
    }

    private static func environment(_ dataDirectory: String, _ simulator: Simulator) -> [String: String] {
        let inherited: [Setting] = [.templatesDir, .migrationsDir, .console, .consoleDir]
        let all = ProcessInfo.processInfo.environment
        var environment = all.filter { name, _ in inherited.contains { $0.variable == name } }
        environment[Setting.listen.variable] = "127.0.0.1:0"
        environment[Setting.managementListen.variable] = "127.0.0.1:0"
        environment[Setting.dataDir.variable] = dataDirectory
        environment[Setting.logLevel.variable] = "warning"
        // Where the push services are, and that the demo's receivers of webhooks and Web Push are on this machine.
        for (name, value) in simulator.environment { environment[name] = value }
        return environment
    }
}
