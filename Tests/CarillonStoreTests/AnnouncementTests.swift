import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

@Suite struct AnnouncementMessageTests {
    private func roundTrip(_ batch: AnnouncementBatch) -> AnnouncementBatch? {
        let message = AnnouncementMessage(AnnouncementMessage(from: "me", batch).text)
        #expect(message?.sender == "me")
        return message?.batch
    }

    @Test(arguments: ["acme", "with space", "*", "ü/\"'\\", "lanes acme"])
    func `what is written is read back`(network: String) {
        let id = NetworkID(trusted: network)
        let batch = AnnouncementBatch.some([Announcement(.lanes, in: id), Announcement(.work, in: id)])
        #expect(roundTrip(batch) == batch)
        #expect(roundTrip(.everything) == .everything)
    }

    @Test func `what PostgreSQL would not take is everything`() {
        func batch(_ count: Int) -> AnnouncementBatch {
            let id = String(repeating: "ü", count: 125)
            return .some(Set((0..<count).map { Announcement(.credentials, in: "\(id)\($0)") }))
        }
        #expect(roundTrip(batch(25)) == batch(25))
        #expect(roundTrip(batch(35)) == .everything)
        for count in 20..<40 {
            #expect(AnnouncementMessage(from: "0123456789abc", batch(count)).text.utf8.count < 8_000)
        }
    }

    @Test func `a topic of a later release is passed over`() {
        let message = AnnouncementMessage("them\nweather acme\nlanes acme")
        #expect(message?.batch == .some([Announcement(.lanes, in: "acme")]))
    }

    @Test(arguments: ["", "x", "\n*", "x\n", "x\nlanes", "x\nlanes ", "x\nlanes \u{1}"])
    func `anything else is no message`(payload: String) {
        #expect(AnnouncementMessage(payload) == nil)
    }
}

@Suite struct AnnouncementNotifierTests {
    /// A replica that writes down what it hears.
    private final class Replica: Sendable {
        let announcements = Announcements()
        private let state = Mutex((heard: [Announcement](), starts: 0))

        var heard: Set<Announcement> { state.withLock { Set($0.heard) } }
        var heardCount: Int { state.withLock(\.heard.count) }
        /// How often it was told that anything may have changed.
        var everythings: Int { state.withLock(\.starts) }

        init() {
            for topic in Announcement.Topic.allCases {
                announcements.subscribe(to: topic) { [weak self] network in
                    self?.state.withLock { state in
                        if let network {
                            state.heard.append(Announcement(topic, in: network))
                        } else if topic == .work {
                            state.starts += 1
                        }
                    }
                }
            }
        }
    }

    private func withReplicas(_ body: (Replica, Replica, PostgresPool) async throws -> Void) async throws {
        let configuration = try await TestDatabase.make()
        let (one, two) = (Replica(), Replica())
        try await TestDatabase.withPool(configuration) { firstPool in
            try await TestDatabase.withPool(configuration) { secondPool in
                let running = [(one, firstPool), (two, secondPool)].map { replica, pool in
                    Task {
                        try await AnnouncementNotifier(
                            replica.announcements,
                            pool: pool,
                            configuration: configuration,
                            logger: TestDatabase.logger
                        ).run()
                    }
                }
                do {
                    try await eventually("both listen") { one.everythings == 1 && two.everythings == 1 }
                    try await body(one, two, firstPool)
                } catch {
                    for task in running { task.cancel() }
                    throw error
                }
                for task in running {
                    task.cancel()
                    try await task.value
                }
            }
        }
    }

    @Test func `what one announces the other hears, and it does not hear itself`() async throws {
        try await withReplicas { one, two, _ in
            one.announcements.announce(.network, in: "acme")
            one.announcements.announce(.credentials, in: "other")
            try await eventually("the other hears both") {
                two.heard == [Announcement(.network, in: "acme"), Announcement(.credentials, in: "other")]
            }
            two.announcements.announce(.work, in: "acme")
            try await eventually("the first hears the second") { one.heard == [Announcement(.work, in: "acme")] }
            #expect(one.everythings == 1)
        }
    }

    @Test func `what a program announces that is none of them all hear`() async throws {
        try await withReplicas { one, two, pool in
            try await AnnouncementNotifier.tell([.placements, .network], in: "acme", by: pool)
            let all: Set = [Announcement(.placements, in: "acme"), Announcement(.network, in: "acme")]
            try await eventually("both hear it") { one.heard == all && two.heard == all }
        }
    }

    @Test func `many announcements are few notifications, and none is lost`() async throws {
        try await withReplicas { one, two, _ in
            let networks = (0..<200).map { NetworkID(trusted: "n\($0)") }
            for _ in 0..<20 {
                for network in networks { one.announcements.announce(.work, in: network) }
            }
            let all = Set(networks.map { Announcement(.work, in: $0) })
            try await eventually("all are heard") { two.heard == all }
            // The first may go alone; a machine that stops between two announcements may make it a few more.
            #expect(two.heardCount < 2_000)
        }
    }

    @Test func `whoever lost its connection is told that anything may have changed, and hears again`() async throws {
        try await withReplicas { one, two, pool in
            #expect(one.announcements.areHeard && two.announcements.areHeard)
            try await pool.execute(
                """
                SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity
                WHERE datname = current_database() AND pid <> pg_backend_pid()
                """
            )
            try await eventually("both listen again") { one.everythings >= 2 && two.everythings >= 2 }
            #expect(one.announcements.areHeard && two.announcements.areHeard)
            one.announcements.announce(.lanes, in: "acme")
            try await eventually("it hears again") { two.heard == [Announcement(.lanes, in: "acme")] }
        }
    }
}
