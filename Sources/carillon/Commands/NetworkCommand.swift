import ArgumentParser
import CarillonCore
import CarillonStore
import Foundation
import Logging
import Postgres

/// `carillon network`: what is done with a whole network.
struct NetworkCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "network",
        abstract: "Move a network to another placement.",
        subcommands: [NetworkMoveCommand.self]
    )
}

/// `carillon network move`: moves a network to another placement.
struct NetworkMoveCommand: AsyncParsableCommand {
    /// How many rows a second are copied, on a machine under load.
    private static let pace: Int64 = 10_000

    static let configuration = CommandConfiguration(
        commandName: "move",
        abstract: "Move a network to another placement, and say how far it is.",
        discussion: """
            Works by itself, whether a service runs or not; services that run hear of it. Posts to the network are answered with 503 \
            until it is there, which takes some seconds. What is cut off is gone on with by a running service, or with --resume.
            """
    )

    @Argument(help: ArgumentHelp("The network.", valueName: "id"))
    var network: String

    @Option(help: ArgumentHelp("The placement it is to be in.", valueName: "name"))
    var to: String?

    @Flag(help: "Only say how much there is to be moved.")
    var dryRun = false

    @Flag(help: "Go on with a move that was cut off, and with what it has left behind.")
    var resume = false

    @Flag(help: "Have a network that moves stay where it is.")
    var cancel = false

    func validate() throws {
        if NetworkID(network) == nil { throw ValidationError("the network is a network's id") }
        if [to != nil, resume, cancel].filter({ $0 }).count != 1 {
            throw ValidationError("one of --to, --resume and --cancel says what to do")
        }
        if dryRun, to == nil { throw ValidationError("--dry-run goes with --to") }
    }

    func run() async throws {
        try await reportingErrors {
            let settings = try Settings(environment: ProcessInfo.processInfo.environment, for: .database)
            guard let network = NetworkID(network) else { return }
            guard settings.placementNames.count > 1 else {
                throw StartError("there is one placement: \(Setting.placements.variable) names others")
            }
            var target: PlacementName?
            if let to { target = try settings.placements(named: to).first }
            try await withPools(settings.placementNames[...], settings, [:]) { [target] pools in
                try await move(network, to: target, pools)
            }
        }
    }

    private func move(
        _ network: NetworkID,
        to target: PlacementName?,
        _ pools: [PlacementName: PostgresPool]
    ) async throws {
        guard let home = pools[.home] else { return }
        let catalog = PostgresMoveCatalog(pool: home)
        if let target {
            let listed = try await PostgresPlacementCatalog(pool: home).list(unless: nil)?.placements[network]
            guard let source = listed else { throw StartError("there is no network \(network)") }
            if dryRun { return try await tell(of: network, in: source, pools) }
            guard let (move, hasBegun) = try await told({ try await catalog.begin(network, to: target) }) else {
                throw StartError("network \(network) is being made")
            }
            guard hasBegun else { return print("network \(network) is in placement \(move.target) already") }
        } else if cancel {
            guard try await told({ try await catalog.cancel(network) }) != nil else {
                throw StartError("network \(network) does not move")
            }
        }
        let mover = NetworkMover(
            catalog: catalog,
            pools: pools,
            logger: .silent,
            changed: { network in
                // Who does not hear of it reads the list some seconds later.
                try? await AnnouncementNotifier.tell(Announcement.Topic.allCases, in: network, by: home)
            }
        )
        async let progress: Void = follow(network, catalog)
        // Where a running service is at it, there is nothing to do but to wait.
        while true {
            if try await mover.work(on: network) { continue }
            guard try await catalog.last(of: network)?.step.isUnderWay == true else { break }
            try await Task.sleep(for: .milliseconds(200))
        }
        try await progress
    }

    /// Says how far a move is, until the network is where it stays.
    private func follow(_ network: NetworkID, _ catalog: PostgresMoveCatalog) async throws {
        var said: NetworkMove?
        while true {
            guard let move = try await catalog.last(of: network) else {
                throw StartError("network \(network) has never moved")
            }
            if move.step != said?.step || move.rows != said?.rows { print("\(move.step.rawValue): \(move.rows) rows") }
            if let reason = move.reason, reason != said?.reason { print("  \(reason)") }
            said = move
            switch move.step {
            case .done, .purging:
                let frozen = move.frozen.wholeMilliseconds
                return print(
                    "network \(network) is in placement \(move.target); nothing could be changed for \(frozen) ms"
                )
            case .cancelled:
                guard cancel else { throw StartError("network \(network) is in placement \(move.source) as before") }
                return print("network \(network) is in placement \(move.source) as before")
            case .draining, .fenced, .copying, .switching: break
            }
            try await Task.sleep(for: .milliseconds(200))
        }
    }

    private func tell(of network: NetworkID, in source: PlacementName, _ pools: [PlacementName: PostgresPool])
        async throws
    {
        guard let pool = pools[source] else { return }
        let counts = try await NetworkMover.counts(of: network, in: pool)
        let rows = counts.filter { $0.rows > 0 }.map { [$0.table, "\($0.rows)"] }
        for row in PlacementsCommand.aligned([["TABLE", "ROWS"]] + rows) { print(row) }
        let sum = counts.reduce(0) { $0 + $1.rows }
        print("\(sum) rows in placement \(source): about \(2 + sum / Self.pace) s without changes")
    }

    private func told<Answer>(_ body: () async throws -> Answer) async throws -> Answer {
        do { return try await body() } catch let problem as MoveProblem {
            switch problem {
            case .inProgress:
                throw StartError("network \(network) moves already: --resume goes on, --cancel brings it back")
            case .switched: throw StartError("network \(network) has moved: another move brings it back")
            }
        }
    }

    private func withPools(
        _ names: ArraySlice<PlacementName>,
        _ settings: Settings,
        _ pools: [PlacementName: PostgresPool],
        _ body: ([PlacementName: PostgresPool]) async throws -> Void
    ) async throws {
        guard let name = names.first else { return try await body(pools) }
        try await Database.withPool(
            settings,
            of: name,
            logger: .silent,
            adjusting: { configuration in configuration.planForStores() }
        ) { pool in
            var pools = pools
            pools[name] = pool
            try await withPools(names.dropFirst(), settings, pools, body)
        }
    }
}
