import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// What a replica writes that has not heard for long that a network has left.
@Suite(.stores, .timeLimit(.minutes(5))) struct DepartedNetworkTests {
    private typealias Write = (name: String, write: @Sendable () async throws -> Void)

    private let scene = StoreScene.here

    /// Whatever users and admins write of toggles, devices, tags and the directory.
    private func writes(in scene: StoreScene) -> [Write] {
        let network = scene.network
        let source = TemplateSource(title: "%s", body: .one("x"))
        let template = TemplateOverride(eventType: .messageSent, locale: "en", source: source, updatedAt: .now)
        var writes: [Write] = []
        func add(_ name: String, _ write: @escaping @Sendable () async throws -> Void) { writes.append((name, write)) }
        for scope in [ToggleScope.network, .user("alice"), .channel("alice", "c")] {
            add("set \(scope)") { _ = try await scene.setToggles(scope, by: .admin) }
            add("set \(scope) as a user") { _ = try await scene.setToggles(scope, by: .user) }
            add("unset \(scope)") { _ = try await scene.toggles.removeToggles(scope, in: network, expected: nil) }
        }
        for writer in [Writer.admin, .user] {
            add("put a device as \(writer)") {
                _ = try await scene.devices.putDevice(Device("d", of: "bob"), in: network, by: writer)
            }
            for subscriber in [Subscriber.user("bob"), .device("d")] {
                add("subscribe \(subscriber) as \(writer)") {
                    _ = try await scene.tags.subscribe(subscriber, to: "news", in: network, ifOwnedBy: nil, by: writer)
                }
            }
        }
        add("delete a device") { _ = try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: network) }
        add("restore devices") { _ = try await scene.restoreDevices() }
        add("put a tag") { _ = try await scene.tags.putTag(Tag(id: "more"), in: network) }
        add("delete a tag") { try await scene.tags.deleteTag("news", in: network) }
        add("unsubscribe") {
            try await scene.tags.unsubscribe(.user("bob"), from: "news", in: network, ifOwnedBy: nil)
        }
        add("unsubscribe several") {
            try await scene.tags.unsubscribe([Subscription(tag: "news", subscriber: .user("bob"))], in: network)
        }
        add("put a user") { _ = try await scene.directory.putUser(Person(id: "new"), in: network) }
        add("delete a user") { _ = try await scene.directory.deleteUser("bob", in: network) }
        add("put a channel") { _ = try await scene.directory.putChannel(Channel(id: "new"), in: network) }
        add("delete a channel") { _ = try await scene.directory.deleteChannel("c", in: network) }
        add("add a member") { _ = try await scene.directory.addMember("bob", to: "c", in: network) }
        add("remove a member") { _ = try await scene.directory.removeMember("bob", from: "c", in: network) }
        add("replace members") { try await scene.directory.replaceMembers(of: "c", with: ["bob"], in: network) }
        add("replace members by none") { try await scene.directory.replaceMembers(of: "c", with: [], in: network) }
        add("put a template") { _ = try await scene.templates.putTemplate(template, in: network) }
        let records: [ImportRecord] = [
            .user(Person(id: "new")), .channel(Channel(id: "new")), .member("c", "bob"),
            .device(Device("d", of: "bob")), .tag(Tag(id: "more")), .subscription(.user("bob"), "news"),
        ]
        for record in records { add("import \(record)") { try await scene.importing([[record]]) } }
        return writes
    }

    @Test func `where a network has left nothing is written of it, and whoever would is told that it moves`()
        async throws
    {
        try await MoveStage.with(scene) { stage in
            let source = stage.source
            let writes = writes(in: source)
            try await source.fillForMove(people: 3)
            for (name, write) in writes {
                await #expect(throws: Never.self, "where it is: \(name)") { try await write() }
            }
            try await source.letGo()
            #expect(try await stage.move().step == .done)
            let changes = try await source.changes()
            for (name, write) in writes {
                await #expect(throws: PlacementProblem.moving, "\(name)") { try await write() }
            }
            #expect(try await stage.rows(in: source).values.allSatisfy(\.isEmpty))
            #expect(try await source.changes() == changes)
        }
    }

    @Test func `whoever waits for a network that has left until its row is removed writes nothing, and is told so`()
        async throws
    {
        try await MoveStage.with(scene) { stage in
            let source = stage.source
            let writes = writes(in: source)
            try await source.fillForMove(people: 3)
            for (_, write) in writes { try await write() }
            try await source.pool.execute("UPDATE devices SET state = 'unregistered', state_at = now()")
            try await source.letGo()
            try await stage.moveWithoutRemoval()
            try await source.pool.script("CREATE TABLE left_over AS SELECT * FROM networks WHERE away = 'gone'")
            let before = try await stage.rows(in: source).filter { NetworkPurge.tables.contains($0.key) }
            var waited: Set<String> = []
            for (name, write) in writes {
                let removal = await source.holdRemoval()
                let isOver = Mutex(false)
                let late = Task {
                    defer { isOver.withLock { $0 = true } }
                    try await write()
                }
                try await eventually("whoever is to \(name)") {
                    if try await source.pool.isAnybodyWaiting() { waited.insert(name) }
                    return waited.contains(name) || isOver.withLock(\.self)
                }
                try await removal.release()
                switch await late.result {
                case .success: #expect(!waited.contains(name), "\(name)")
                case .failure(let error): #expect(error.isOfDepartedNetwork, "\(name): \(error)")
                }
                try await source.pool.script(
                    """
                    INSERT INTO networks SELECT * FROM left_over;
                    DELETE FROM departed_networks
                    """
                )
            }
            let after = try await stage.rows(in: source).filter { NetworkPurge.tables.contains($0.key) }
            #expect(after == before)
            // Where there is nothing to be changed nobody meets the fence.
            let changing: Set = ["put a user", "add a member", "delete a device", "restore devices"]
            #expect(waited.isSuperset(of: changing), "\(waited)")
        }
    }

    @Test func `one of the id of a network that has left can be made where its fence is still`() async throws {
        try await MoveStage.with(scene) { stage in
            let target = stage.target
            try await MoveFence(network: stage.network, pool: target.pool).raise { _ in }
            try await target.pool.withConnection { session in try session.noteDeparture(of: stage.network) }
            let network = Network(id: stage.network, createdAt: WallClock.system.now())
            #expect(try await target.accounts.createNetwork(network))
            _ = try await target.directory.putUser(Person(id: "alice"), in: stage.network)
        }
    }
}

extension Error {
    /// Whether it says that a network is on its way, or elsewhere.
    fileprivate var isOfDepartedNetwork: Bool {
        if let problem = self as? PlacementProblem { return problem == .moving }
        return (self as? PostgresError)?.isOfMovingNetwork == true
    }
}

extension StoreScene {
    fileprivate func setToggles(_ scope: ToggleScope, by writer: Writer) async throws -> Versioned<JSONValue>? {
        try await toggles.updateToggles(scope, in: network, by: writer, expected: nil) { _ in ["enabled": false] }
    }

    fileprivate func restoreDevices() async throws -> Int {
        let (first, last) = (Timestamp(milliseconds: .min), Timestamp(milliseconds: .max))
        return try await devices.restoreDevices(.log, appID: nil, since: first, until: last, in: network)
    }

    /// How often anything was changed that could forbid a delivery.
    fileprivate func changes() async throws -> Int64 {
        try await pool.first(
            "SELECT coalesce(max(seq), 0) FROM change_counters WHERE network_id = \(network.rawValue)",
            as: Int64.self
        ) ?? 0
    }
}
