import CarillonTesting
import struct Foundation.UUID
import Synchronization
import Testing

@testable import CarillonCore

/// Which placement a network is in.
@Suite struct PlacementDirectoryTests {
    private struct Away: Error {}

    /// Home's list, which counts how often it is read.
    private final class ScriptedCatalog: PlacementCatalog {
        private struct State {
            var list: PlacementList
            var isAway = false
            /// What it does before it fails.
            var hang: @Sendable () -> Void = {}
            var readings = 0
        }

        private let state: Mutex<State>

        init(_ placements: [NetworkID: PlacementName]) {
            state = Mutex(State(list: PlacementList(version: 1, placements: placements)))
        }

        var readings: Int { state.withLock(\.readings) }

        func isAway(_ isAway: Bool, hanging hang: @escaping @Sendable () -> Void = {}) {
            state.withLock { ($0.isAway, $0.hang) = (isAway, hang) }
        }

        func begin(moving network: NetworkID) {
            state.withLock { state in
                state.list.moving.insert(network)
                state.list.version += 1
            }
        }

        func put(_ network: NetworkID, in placement: PlacementName?) {
            state.withLock { state in
                state.list.placements[network] = placement
                state.list.version += 1
            }
        }

        func moves(_ network: NetworkID) {
            state.withLock { state in
                state.list.moving.insert(network)
                state.list.version += 1
            }
        }

        func list(unless version: Int64?) async throws -> PlacementList? {
            try state.withLock { state in
                state.readings += 1
                if state.isAway {
                    state.hang()
                    throw Away()
                }
                return state.list.version == version ? nil : state.list
            }
        }

        func records() async throws -> [PlacementRecord] { [] }
        func setState(_ state: PlacementState, of name: PlacementName) async throws -> Bool { false }
        func reserve(
            _ network: NetworkID,
            in wanted: PlacementName?,
            among candidates: [PlacementName],
            for request: IdempotentRequest?
        ) async throws -> PlacementName { .home }
    }

    /// Moves of which each begins.
    private struct BeginningMoves: MoveCatalog {
        func begin(_ network: NetworkID, to target: PlacementName) async throws -> (
            move: NetworkMove, hasBegun: Bool
        )? {
            let move = NetworkMove(
                id: UUID(),
                network: network,
                source: .home,
                target: target,
                step: .draining,
                startedAt: Timestamp(milliseconds: 1_000)
            )
            return (move, true)
        }
        func last(of network: NetworkID) async throws -> NetworkMove? { nil }
        func cancel(_ network: NetworkID) async throws -> NetworkMove? { nil }
    }

    private let p1 = PlacementName("p1") ?? .home
    private let time = ManualTime(Timestamp(milliseconds: 1_000))

    private func directory(
        _ catalog: ScriptedCatalog,
        initial: PlacementList? = nil,
        _ announcements: Announcements = Announcements()
    ) -> PlacementDirectory {
        PlacementDirectory(
            catalog: catalog,
            initial: initial,
            announcements: announcements,
            logger: TestDatabase.logger,
            now: time.monotonic
        )
    }

    /// One that hears of changes, and has been read at the beginning: it rests, since the time stands still by which that ends.
    private func resting(
        _ catalog: ScriptedCatalog,
        _ announcements: Announcements
    ) async throws -> (PlacementDirectory, running: Task<Void, any Error>) {
        let directory = directory(catalog, announcements)
        _ = try await directory.placement(of: "acme")
        announcements.hear(true)
        let running = Task { try await directory.run() }
        try await eventually("it is read at the beginning") { catalog.readings == 2 }
        return (directory, running)
    }

    @Test func `what is known is not read again, however old it is, and works while home is away`() async throws {
        let catalog = ScriptedCatalog(["acme": p1])
        let directory = directory(catalog)
        #expect(try await directory.placement(of: "acme") == p1)
        catalog.isAway(true)
        time.advance(by: .seconds(3_600))
        for _ in 1...100 { #expect(try await directory.placement(of: "acme") == p1) }
        #expect(catalog.readings == 1)
    }

    @Test(.timeLimit(.minutes(2)))
    func `the list is not read all the time while changes of it are heard of and nothing moves`() async throws {
        let catalog = ScriptedCatalog(["acme": p1])
        let announcements = Announcements()
        let (directory, running) = try await resting(catalog, announcements)
        defer { running.cancel() }
        // Longer than it takes between two readings otherwise; the time by which a rest ends stands still.
        try await Task.sleep(for: .seconds(3))
        #expect(catalog.readings == 2)
        catalog.put("acme", in: .home)
        announcements.deliver(.some([Announcement(.placements, in: "acme")]))
        try await eventually("what was announced is read") { directory.lastKnown("acme") == .home }
        catalog.begin(moving: "acme")
        announcements.deliver(.some([Announcement(.placements, in: "acme")]))
        try await eventually("what moves is read") { directory.isMoving("acme") }
        let before = catalog.readings
        try await eventually("it is read all the time while something moves") { catalog.readings > before + 1 }
    }

    @Test(.timeLimit(.minutes(2)))
    func `what was announced and could not be read is read as soon as that can be done, and not behind a rest`()
        async throws
    {
        let catalog = ScriptedCatalog(["acme": p1])
        let announcements = Announcements()
        let (directory, running) = try await resting(catalog, announcements)
        defer { running.cancel() }
        catalog.begin(moving: "acme")
        catalog.isAway(true)
        announcements.deliver(.some([Announcement(.placements, in: "acme")]))
        try await eventually("a reading that fails") { catalog.readings > 2 }
        #expect(!directory.isMoving("acme"))
        catalog.isAway(false)
        try await eventually("what was announced is read") { directory.isMoving("acme") }
    }

    @Test(.timeLimit(.minutes(2)))
    func `the list is read all the time while nothing is heard`() async throws {
        let catalog = ScriptedCatalog(["acme": p1])
        let directory = directory(catalog)
        _ = try await directory.placement(of: "acme")
        let running = Task { try await directory.run() }
        defer { running.cancel() }
        try await eventually("it is read again and again") { catalog.readings > 2 }
    }

    @Test func `a network that nobody has heard of is looked for, and is home's when there is none`() async throws {
        let catalog = ScriptedCatalog(["acme": p1])
        let directory = directory(catalog)
        _ = try await directory.placement(of: "acme")
        catalog.put("new", in: p1)
        time.advance(by: .seconds(1))
        #expect(try await directory.placement(of: "new") == p1)
        #expect(try await directory.placement(of: "none") == .home)
        let before = catalog.readings
        for _ in 1...100 { #expect(try await directory.placement(of: "none") == .home) }
        #expect(catalog.readings == before)
        catalog.put("none", in: p1)
        await directory.changed(in: "none")
        #expect(try await directory.placement(of: "none") == p1)
    }

    @Test func `however many ask for unknown networks at once, they share a reading that begins after they asked`()
        async throws
    {
        let catalog = ScriptedCatalog(["acme": p1])
        let directory = directory(catalog)
        _ = try await directory.placement(of: "acme")
        catalog.put("new", in: p1)
        // However young the list is: what was made a moment ago at another replica is found.
        #expect(try await directory.placement(of: "new") == p1)
        let before = catalog.readings
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<1_000 {
                group.addTask { _ = try await directory.placement(of: NetworkID(trusted: "unknown-\(number)")) }
            }
            try await group.waitForAll()
        }
        // A reading is begun each 50 ms at the most, and the tasks may begin far apart.
        #expect(catalog.readings - before < 100, "\(catalog.readings - before)")
    }

    @Test func `while home is away an unknown network is not said to be unknown`() async throws {
        let catalog = ScriptedCatalog(["acme": p1])
        catalog.isAway(true)
        let fresh = directory(catalog)
        #expect(!fresh.isKnown)
        await #expect(throws: PlacementProblem.self) { try await fresh.placement(of: "acme") }
        let list = PlacementList(version: 7, placements: ["acme": p1])
        let restarted = directory(catalog, initial: list)
        #expect(restarted.isKnown)
        #expect(try await restarted.placement(of: "acme") == p1)
        await #expect(throws: PlacementProblem.self) { try await restarted.placement(of: "other") }
        catalog.isAway(false)
        #expect(try await restarted.placement(of: "other") == .home)
        #expect(restarted.counts == [p1: 1])
    }

    @Test func `when home hangs, that is found out once, and nobody waits for it once more while that is young`()
        async throws
    {
        let catalog = ScriptedCatalog(["acme": p1])
        let directory = directory(catalog)
        _ = try await directory.placement(of: "acme")
        catalog.isAway(true) { [time] in time.advance(by: .milliseconds(1_800)) }
        await #expect(throws: PlacementProblem.unavailable(.home, reason: "\(Away())")) {
            try await directory.placement(of: "other")
        }
        let before = catalog.readings
        for number in 1...100 {
            await #expect(throws: PlacementProblem.unavailable(.home, reason: "\(Away())")) {
                try await directory.placement(of: NetworkID(trusted: "other-\(number)"))
            }
        }
        await #expect(throws: PlacementProblem.self) { try await directory.isElsewhere("acme", than: p1) }
        #expect(catalog.readings == before)
        #expect(try await directory.placement(of: "acme") == p1, "what is known needs nobody")
        time.advance(by: .seconds(2))
        await #expect(throws: PlacementProblem.self) { try await directory.placement(of: "other") }
        #expect(catalog.readings == before + 1)
        // Whoever has read it since knows better.
        catalog.isAway(false)
        await directory.readAnew()
        #expect(try await directory.placement(of: "other") == .home)
    }

    @Test(.timeLimit(.minutes(2)))
    func `whoever is told that a network moves meets nobody here who does not know it, unless that takes long`()
        async throws
    {
        for isPrepared in [true, false] {
            let catalog = ScriptedCatalog(["acme": .home])
            let directory = directory(catalog)
            _ = try await directory.placement(of: "acme")
            let moves = PlacementAdministration.Moves(
                catalog: BeginningMoves(),
                directory: directory,
                patience: isPrepared ? .seconds(90) : .zero,
                changed: { network in
                    guard isPrepared else { return }
                    catalog.moves(network)
                    Task { await directory.readAnew() }
                }
            )
            let administration = PlacementAdministration(
                names: [.home, p1],
                catalog: catalog,
                problem: { _ in nil },
                networks: { 1 },
                moves: moves,
                look: { _ in PlacementAdministration.Look(reason: nil) }
            )
            #expect(try await administration.move("acme", to: p1)?.hasBegun == true)
            #expect(directory.isMoving("acme") == isPrepared)
        }
    }

    @Test func `what is asked of many is asked of each placement, and one that fails takes nothing from the others`()
        async throws
    {
        struct Port: Sendable {
            let name: PlacementName
            let isAway: Bool
        }
        let p1 = p1
        let ports = [PlacementName.home: Port(name: .home, isAway: false), p1: Port(name: p1, isAway: true)]
        let placed = Placed(ports) { network, _ in network == "away" ? p1 : .home }
        let (answers, failure) = await placed.parts(["a", "away", "b"] as [NetworkID], by: { $0 }) { port, networks in
            if port.isAway { throw Away() }
            return networks
        }
        #expect(answers.map { Set($0) } == [["a", "b"]])
        #expect(failure is Away)
        let there = try await placed.each { name, port in
            if port.isAway { throw Away() }
            return name
        }
        #expect(there == [.home])
        let nowhere = Placed<Port>([:]) { _, _ in p1 }
        await #expect(throws: PlacementProblem.unavailable(p1, reason: "its URL is not configured here")) {
            try await nowhere.of("a")
        }
    }
}
