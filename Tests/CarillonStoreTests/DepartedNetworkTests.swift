import CarillonCore
import CarillonTesting
import Postgres
import Synchronization
import Testing

@testable import CarillonStore

/// What a replica writes that has not heard for long that a network has left.
@Suite(.stores, .timeLimit(.minutes(5))) struct DepartedNetworkTests {
    private typealias Write = (name: String, write: () async throws -> Void)

    private let scene = StoreScene.here

    /// Whatever users and admins write of toggles, devices, tags and the directory.
    private func writes(in scene: StoreScene) -> [Write] {
        let network = scene.network
        let source = TemplateSource(title: "%s", body: .one("x"))
        let template = TemplateOverride(eventType: .messageSent, locale: "en", source: source, updatedAt: .now)
        let scopes: [ToggleScope] = [.network, .user("alice"), .channel("alice", "c")]
        var writes: [Write] = scopes.flatMap { scope -> [Write] in
            [
                ("set \(scope)", { _ = try await scene.setToggles(scope, by: .admin) }),
                ("set \(scope) as a user", { _ = try await scene.setToggles(scope, by: .user) }),
                (
                    "unset \(scope)",
                    { _ = try await scene.toggles.removeToggles(scope, in: network, expected: nil) }
                ),
            ]
        }
        for writer in [Writer.admin, .user] {
            writes.append(
                (
                    "put a device as \(writer)",
                    {
                        _ = try await scene.devices.putDevice(Device("d", of: "bob"), in: network, by: writer)
                    }
                )
            )
            for subscriber in [Subscriber.user("bob"), .device("d")] {
                writes.append(
                    (
                        "subscribe \(subscriber) as \(writer)",
                        {
                            _ = try await scene.tags.subscribe(
                                subscriber,
                                to: "news",
                                in: network,
                                ifOwnedBy: nil,
                                by: writer
                            )
                        }
                    )
                )
            }
        }
        writes += [
            (
                "delete a device", { _ = try await scene.devices.deleteDevice("d", ifOwnedBy: nil, in: network) }
            ),
            ("put a tag", { _ = try await scene.tags.putTag(Tag(id: "more"), in: network) }),
            ("delete a tag", { try await scene.tags.deleteTag("news", in: network) }),
            (
                "unsubscribe",
                { try await scene.tags.unsubscribe(.user("bob"), from: "news", in: network, ifOwnedBy: nil) }
            ),
            (
                "unsubscribe several",
                {
                    let subscription = Subscription(tag: "news", subscriber: .user("bob"))
                    try await scene.tags.unsubscribe([subscription], in: network)
                }
            ),
            ("put a user", { _ = try await scene.directory.putUser(Person(id: "new"), in: network) }),
            ("delete a user", { _ = try await scene.directory.deleteUser("bob", in: network) }),
            ("put a channel", { _ = try await scene.directory.putChannel(Channel(id: "new"), in: network) }),
            ("delete a channel", { _ = try await scene.directory.deleteChannel("c", in: network) }),
            ("add a member", { _ = try await scene.directory.addMember("bob", to: "c", in: network) }),
            ("remove a member", { _ = try await scene.directory.removeMember("bob", from: "c", in: network) }),
            ("replace members", { try await scene.directory.replaceMembers(of: "c", with: ["bob"], in: network) }),
            ("replace members by none", { try await scene.directory.replaceMembers(of: "c", with: [], in: network) }),
            ("put a template", { _ = try await scene.templates.putTemplate(template, in: network) }),
        ]
        let records: [ImportRecord] = [
            .user(Person(id: "new")), .channel(Channel(id: "new")), .member("c", "bob"),
            .device(Device("d", of: "bob")), .tag(Tag(id: "more")), .subscription(.user("bob"), "news"),
        ]
        for record in records {
            writes.append(("import \(record)", { try await scene.importOnce([record]) }))
        }
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
}

extension StoreScene {
    fileprivate func setToggles(_ scope: ToggleScope, by writer: Writer) async throws -> Versioned<JSONValue>? {
        try await toggles.updateToggles(scope, in: network, by: writer, expected: nil) { _ in ["enabled": false] }
    }

    /// How often anything was changed that could forbid a delivery.
    fileprivate func changes() async throws -> Int64 {
        try await pool.first(
            "SELECT coalesce(max(seq), 0) FROM change_counters WHERE network_id = \(network.rawValue)",
            as: Int64.self
        ) ?? 0
    }

    fileprivate func importOnce(_ records: [ImportRecord]) async throws {
        let rest = Mutex<[ImportRecord]?>(records)
        try await directory.apply({ rest.withLock { $0.take() } }, in: network)
    }
}
