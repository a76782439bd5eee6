import ArgumentParser
import CarillonCore
import CarillonStore
import Foundation
import Logging
import Postgres

/// `carillon discard-pending`: gives up what waits to be sent.
struct DiscardPendingCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "discard-pending",
        abstract: "Give up what waits to be sent, as after a backup was restored: it was sent long ago.",
        discussion: """
            Says how much it is, and asks. Notifications end as expired, messages to endpoints as failed, and events whose recipients \
            were still to be found notify nobody; each says that an operator discarded it. Refuses to while a Carillon works on \
            the database. When it is stopped in the middle, it can be started again.
            """
    )

    @Option(help: ArgumentHelp("Of this network alone.", valueName: "id"))
    var network: String?

    @Option(
        help: ArgumentHelp("Only of events that were accepted before, such as 2026-11-24T03:00:00Z.", valueName: "time")
    )
    var before: String?

    @Flag(help: "Do not ask.")
    var yes = false

    func validate() throws {
        if let network, NetworkID(network) == nil { throw ValidationError("--network is a network's id") }
        if let before, Timestamp(rfc3339: before) == nil {
            throw ValidationError("--before is a time, such as 2026-11-24T03:00:00Z")
        }
    }

    func run() async throws {
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment, for: .database)
            let logger = Logger.standardError(settings)
            var placements = settings.placementNames
            if let network = network.flatMap({ NetworkID($0) }) {
                placements = [try await Database.placement(of: network, settings, logger: logger)]
            }
            for name in placements {
                if placements.count > 1 { Terminal().line("placement \(name):") }
                try await Database.withPool(
                    settings,
                    of: name,
                    logger: logger,
                    pastPooler: true,
                    // A single connection is told from those of others.
                    adjusting: { $0.poolSize = 1 }
                ) { pool in
                    try await settings.checkSchema(pool)
                    try await discard(in: pool, logger: logger)
                }
            }
        }
    }

    private func discard(in pool: PostgresPool, logger: Logger) async throws {
        let network = network.flatMap { NetworkID($0) }
        let work = PendingWork(
            pool: pool,
            of: network,
            acceptedBefore: before.flatMap { Timestamp(rfc3339: $0) },
            logger: logger
        )
        if let network, try await !work.isKnown(network) { throw StartError("there is no network \(network)") }
        let others = try await work.othersAtWork()
        guard others == 0 else {
            throw StartError(
                "a Carillon works on this database (\(others) connections), and would send meanwhile: stop it first"
            )
        }
        let terminal = Terminal()
        let counts = try await work.counts()
        guard !counts.isEmpty else { return terminal.line("Nothing waits to be sent.") }
        terminal.line("What waits to be sent\(counts.span):")
        for line in counts.lines { terminal.line("  " + line) }
        guard yes || mayGoOn() else { throw StartError("nothing was discarded: --yes does it without asking") }
        var told = ContinuousClock.now
        let discarded = try await work.discard { counts in
            guard ContinuousClock.now - told > .seconds(5) else { return }
            told = .now
            terminal.line("so far: " + counts.lines.joined(separator: ", "))
        }
        terminal.line("Discarded: " + discarded.lines.joined(separator: ", ") + ".")
    }

    /// Asks where somebody can answer.
    private func mayGoOn() -> Bool {
        guard isatty(STDIN_FILENO) == 1 else { return false }
        print("Discard it? It will never be sent. [y/N] ", terminator: "")
        fflush(nil)
        return ["y", "yes"].contains(readLine()?.lowercased())
    }
}

extension PendingWork.Counts {
    /// When its events were accepted, as a part of a sentence.
    var span: String {
        guard let accepted else { return "" }
        let (first, last) = (accepted.lowerBound, accepted.upperBound)
        return first == last ? ", of an event accepted at \(first)" : ", of events accepted from \(first) to \(last)"
    }

    /// What there is of, each with its number.
    var lines: [String] {
        let found = [
            (events, "event whose recipients were still to be found", "events whose recipients were still to be found"),
            (devices, "notification to a device", "notifications to devices"),
            (messages, "message to an endpoint", "messages to endpoints"),
            (replays, "replay for an endpoint", "replays for endpoints"),
        ]
        return found.filter { $0.0 > 0 }.map { count, one, many in "\(count) \(count == 1 ? one : many)" }
    }
}
