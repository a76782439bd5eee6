@testable import CarillonCore
import Foundation
import Postgres
import Testing

@testable import CarillonStore
@testable import CarillonTesting

/// A deleted network takes nothing with it of one that is made under its name later.
@Suite(.stores, .timeLimit(.minutes(2))) struct FormerNetworkTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }
    private static let count = 4 * NetworkPurge.batchSize

    private func withReplicas(
        _ body: (_ one: StoreScene, _ two: StoreScene, PostgresPool) async throws -> Void
    ) async throws {
        let configuration = try await TestDatabase.make()
        try await StoreScene.withStores(configuration) { one, pool in
            try await TestDatabase.withPool(configuration) { other in
                try await body(one, try StoreScene(pool: other), pool)
            }
        }
    }

    private func fill(_ network: NetworkID, _ pool: PostgresPool) async throws {
        try await pool.execute(
            """
            INSERT INTO users (network_id, user_id, facts_at)
            SELECT \(network.rawValue), 'former' || n, 'epoch' FROM generate_series(1, \(Self.count)) n
            """
        )
        try await pool.execute(
            """
            INSERT INTO members (network_id, channel_id, user_id, is_member, since_event, facts_at)
            SELECT \(network.rawValue), 'c', 'former' || n, true, gen_random_uuid(), now()
            FROM generate_series(1, \(Self.count)) n
            """
        )
    }

    private func users(_ pattern: String, of network: NetworkID, _ pool: PostgresPool) async throws -> Int {
        try await pool.execute("SELECT FROM users WHERE network_id = \(network.rawValue) AND user_id LIKE \(pattern)")
    }

    private func new(_ network: NetworkID) -> NetworkCredentials { .sample(network, name: "Again") }

    @Test func `events of a network that is gone are accepted with the others, and nothing of them is written`()
        async throws
    {
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        let late = scene.incoming(.message("c", from: Person(id: "a"), members: ["b"]))
        let other = scene.incoming(.message("c", from: Person(id: "a"), members: ["b"]), in: scene.otherNetwork)
        let answers = try await scene.inbox.accept([late, other])
        #expect(answers.map(\.unmarked) == [.accepted(late.id), .accepted(other.id)])
        for table in ["event_keys", "inbox", "users", "channels", "members"] {
            let networks = try await pool.all("SELECT network_id FROM \(identifier: table)", as: String.self)
            #expect(Set(networks) == [scene.otherNetwork.rawValue], "\(table)")
        }
    }

    @Test
    func `nothing of a successor is lost, though the deletion of thousands was killed and two replicas go on with it`()
        async throws
    {
        try await withReplicas { one, two, pool in
            let network = one.network
            try await fill(network, pool)
            let held = await pool.hold(
                "SELECT FROM users WHERE user_id LIKE 'former%' ORDER BY user_id DESC LIMIT 1 FOR UPDATE"
            )
            let deletion = Task { try await one.accounts.deleteNetwork(network) }
            try await eventually { try await users("former%", of: network, pool) < Self.count }
            deletion.cancel()
            _ = try? await deletion.value
            #expect(try await users("former%", of: network, pool) > 0)
            async let early = one.accounts.createNetwork(new(network), answering: nil)
            #expect(try await two.accounts.createNetwork(new(network), answering: nil) == .beingDeleted)
            #expect(try await early == .beingDeleted)
            #expect(try await two.accounts.network(network) == nil)
            try await held.release()
            let answers = try await inParallel(2) { replica in
                try await (replica == 0 ? one : two).accounts.createNetwork(new(network), answering: nil)
            }
            #expect(answers.contains(.created) && answers.contains(.refused))
            // Whoever was at it goes on, and all that housekeeping does.
            async let purging: Void = {
                for _ in 0..<10 {
                    for replica in [one, two] {
                        let former = try #require(replica.accounts as? PostgresAccountStore).former
                        try await former.purge(network)
                        try await OrphanSweep(pool: pool).sweep()
                        try await former.sweep()
                    }
                }
            }()
            for number in 0..<200 {
                let person = Person(id: "new\(number)", displayName: "New")
                let event = Event.message("c", from: person, id: "e\(number)")
                let replica = number.isMultiple(of: 2) ? one : two
                #expect(try await replica.inbox.accept([replica.incoming(event)]).count == 1)
            }
            try await purging
            #expect(try await users("new%", of: network, pool) == 200)
            #expect(try await users("former%", of: network, pool) == 0)
            #expect(try await pool.count("members") == 200)
            #expect(try await pool.count("inbox") == 200)
            #expect(try await pool.count("former_networks") == 0)
        }
    }

    @Test func `a purge leaves a living network alone, whatever was believed of its name before`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a"), id: "e"))
        try await pool.withConnection { session in
            // As a replica of a former release leaves it, which makes networks without looking here.
            _ = try session.execute("INSERT INTO former_networks (network_id) VALUES (\(scene.network.rawValue))")
        }
        try await FormerNetworks(pool: pool, rest: .zero).purge(scene.network)
        try await pool.housekeeper().sweep()
        #expect(try await pool.count("inbox") == 1)
        #expect(try await pool.count("users") == 1)
    }

    @Test func `what was written for a network while it was deleted is not its successor's`() async throws {
        try await withReplicas { one, two, pool in
            let insertion: SQL = """
                INSERT INTO users (network_id, user_id, facts_at) VALUES (\(one.network.rawValue), 'late', now())
                """
            let held = await pool.hold(insertion)
            #expect(try await two.accounts.deleteNetwork(one.network))
            let isFree = try await pool.withTransaction { session in
                try session.lockName(of: one.network)
                return try session.freeName(of: one.network, after: .zero)
            }
            #expect(!isFree, "a transaction that began before the deletion may have written for it")
            async let successor = two.accounts.createNetwork(new(one.network), answering: nil)
            try await held.release()
            #expect(try await successor == .created)
            #expect(try await users("late", of: one.network, pool) == 0)
        }
    }

    @Test
    func `what is written behind the purge is purged before there is a successor, or by housekeeping`() async throws {
        let stray = Event.message("c", from: Person(id: "stray"), id: "e")
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        _ = try await scene.inbox.accept([scene.incoming(stray)])
        #expect(try await scene.accounts.createNetwork(new(scene.network), answering: nil) == .created)
        for table in ["users", "inbox", "event_keys"] { #expect(try await pool.count(table) == 0, "\(table)") }
        #expect(try await scene.accounts.deleteNetwork(scene.network))
        _ = try await scene.inbox.accept([scene.incoming(stray)])
        try await pool.housekeeper().sweep()
        for table in ["users", "inbox", "event_keys"] { #expect(try await pool.count(table) == 0, "\(table)") }
    }

    @Test func `a name rests after the deletion, and a refused creation can be repeated`() async throws {
        var accounts = try #require(scene.accounts as? PostgresAccountStore)
        accounts.former.rest = .seconds(3_600)
        #expect(try await accounts.deleteNetwork(scene.network))
        let request = IdempotentRequest(networkID: nil, keyHash: [1], bodyHash: [1], answer: [1])
        #expect(try await accounts.createNetwork(new(scene.network), answering: request) == .beingDeleted)
        #expect(try await accounts.deleteNetwork(scene.network) == false)
        try await FormerNetworks(pool: pool, rest: .seconds(3_600)).sweep()
        #expect(try await pool.count("former_networks") == 1)
        #expect(try await scene.accounts.createNetwork(new(scene.network), answering: request) == .created)
        #expect(try await pool.count("former_networks") == 0)
    }

    @Test func `a network that somebody holds keeps no other from being purged`() async throws {
        for network in [scene.network, scene.otherNetwork] {
            _ = try await scene.directory.putUser(Person(id: "former"), in: network)
        }
        let held = await pool.hold("SELECT FROM users WHERE network_id = \(scene.network.rawValue) FOR UPDATE")
        for network in [scene.network, scene.otherNetwork] {
            #expect(try await scene.accounts.deleteNetwork(network))
        }
        try await FormerNetworks(pool: pool, rest: .zero).sweep()
        #expect(try await users("former", of: scene.network, pool) == 1)
        #expect(try await users("former", of: scene.otherNetwork, pool) == 0)
        try await held.release()
        try await FormerNetworks(pool: pool, rest: .zero).sweep()
        #expect(try await pool.count("users") == 0)
    }

    @Test func `a sweep of removals that began in a former network takes nothing of its successor's`() async throws {
        _ = try await scene.directory.addMember("a", to: "c", in: scene.network)
        let device = Device("d", of: "a")
        _ = try await scene.devices.putDevice(device, in: scene.network)
        let later = (Timestamp.now + .seconds(60)).stored
        let sweep = RemovalSweep(pool: pool)
        try await sweep.sweep(.init(network: scene.network, user: "a", wipedAt: later, wipes: 1))
        try await sweep.sweep(.init(network: scene.network, channel: "c", wipedAt: later, emptiedAt: later))
        #expect(try await scene.devices.device("d", in: scene.network) != nil)
        #expect(try await pool.count("members") == 1)
    }

    @Test func `answers to requests of nobody's network stay when orphans are looked for`() async throws {
        let request = IdempotentRequest(networkID: nil, keyHash: [1], bodyHash: [1], answer: [1])
        #expect(try await scene.accounts.createNetwork(new("third"), answering: request) == .created)
        try await OrphanSweep(pool: pool).sweep()
        #expect(try await pool.count("former_networks") == 0)
        let again = try await scene.accounts.createNetwork(new("third"), answering: request)
        #expect(again == .repeated(answer: [1]))
    }
}

/// While replicas are updated one after the other, those of the former release go on.
@Suite(.stores) struct FormerReplicaTests {
    private let scene = StoreScene.here
    private var pool: PostgresPool { scene.pool }

    @Test
    func `what an import said of an address is over when a former replica registers its device anew`() async throws {
        let address = DeviceAddress.fcm(token: "t", appID: "app")
        let imported = Device(id: "d", userID: "a", address: address, registeredAt: .seconds(60), obtainedAt: .epoch)
        _ = try await scene.devices.putDevice(imported, in: scene.network)
        func obtainedAt() async throws -> Timestamp? {
            let key = AddressKey(networkID: scene.network, address: address)
            return try await scene.devices.devices(reachedAt: [key])[0]?.obtainedAt
        }
        #expect(try await obtainedAt() == .epoch)
        #expect(try await scene.devices.device("d", in: scene.network)?.obtainedAt == .epoch)
        // It knows of no other column.
        try await pool.execute("UPDATE devices SET registered_at = \(Timestamp.seconds(90).stored)")
        #expect(try await obtainedAt() == .seconds(90))
        #expect(try await scene.devices.device("d", in: scene.network)?.obtainedAt == nil)
        _ = try await scene.devices.putDevice(imported, in: scene.network)
        #expect(try await obtainedAt() == .epoch, "imported once more")
    }
}
