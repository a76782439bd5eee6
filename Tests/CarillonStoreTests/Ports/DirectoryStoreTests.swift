import CarillonCore
import CarillonTesting
import Synchronization
import Testing

/// What ``DirectoryStore`` promises.
@Suite(.stores) struct DirectoryStoreTests {
    let scene = StoreScene.here

    @Test func `what is unknown is neither found nor deleted`() async throws {
        #expect(try await scene.directory.user("a", in: scene.network) == nil)
        #expect(try await scene.directory.deleteUser("a", in: scene.network) == false)
        #expect(try await scene.directory.channel("c", in: scene.network) == nil)
        #expect(try await scene.directory.deleteChannel("c", in: scene.network) == false)
        #expect(try await scene.members(of: "c") == nil)
        #expect(try await scene.directory.removeMember("a", from: "c", in: scene.network) == false)
    }

    @Test func `a user is replaced as a whole, and new once`() async throws {
        let alice = Person(id: "a", displayName: "Alice", locale: "th", roles: ["x"])
        #expect(try await scene.directory.putUser(alice, in: scene.network))
        #expect(try await scene.directory.user("a", in: scene.network) == alice)
        #expect(try await scene.directory.putUser(Person(id: "a"), in: scene.network) == false)
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await scene.directory.putUser(alice, in: scene.network))
    }

    @Test func `what an admin wrote is not overwritten by events of before`() async throws {
        _ = try await scene.directory.putUser(Person(id: "a", displayName: "Admin"), in: scene.network)
        _ = try await scene.directory.putChannel(Channel(id: "c", displayName: "Admin"), in: scene.network)
        _ = try await scene.directory.addMember("a", to: "c", in: scene.network)
        _ = try await scene.directory.addMember("b", to: "c", in: scene.network)
        _ = try await scene.directory.removeMember("b", from: "c", in: scene.network)
        try await scene.accept(
            .message("c", from: Person(id: "a", displayName: "Event"), at: 0, channelName: "Event"),
            .members(.memberLeft, "c", ["a"], at: 0),
            .members(.memberJoined, "c", ["b"], at: 0),
            .user(.userDeleted, Person(id: "a"), at: 0)
        )
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Admin")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "Admin")
        #expect(try await scene.members(of: "c") == ["a"])
    }

    @Test func `an admin's word goes before an event that seems to come from the future`() async throws {
        var event = Event.user(.userUpdated, Person(id: "a", displayName: "Future"), at: 0)
        event.timestamp = WallClock.system.now() + .seconds(200)
        try await scene.accept(event)
        _ = try await scene.directory.putUser(Person(id: "a", displayName: "Admin"), in: scene.network)
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Admin")
    }

    @Test func `deleting a user takes devices, memberships and toggles along`() async throws {
        _ = try await scene.directory.addMember("a", to: "c", in: scene.network)
        _ = try await scene.target("d", of: "a")
        _ = try await scene.toggles.set(.user("a"), ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteUser("a", in: scene.network))
        #expect(try await scene.directory.deleteUser("a", in: scene.network) == false)
        #expect(try await scene.members(of: "c") == [])
        #expect(try await scene.devices.device("d", in: scene.network) == nil)
        #expect(try await scene.toggles.toggles(.user("a"), in: scene.network).document == [:])
    }

    @Test func `deleting a channel takes memberships and channel toggles along`() async throws {
        _ = try await scene.directory.putChannel(Channel(id: "c", displayName: "C"), in: scene.network)
        _ = try await scene.directory.addMember("a", to: "c", in: scene.network)
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        #expect(try await scene.directory.deleteChannel("c", in: scene.network))
        #expect(try await scene.members(of: "c") == nil)
        #expect(try await scene.toggles.toggles(.channel("a", "c"), in: scene.network).document == [:])
        #expect(try await scene.directory.putChannel(Channel(id: "c"), in: scene.network))
        #expect(try await scene.members(of: "c") == [])
    }

    @Test func `adding a member adds user and channel to the directory, not knowing them`() async throws {
        #expect(try await scene.directory.addMember("a", to: "c", in: scene.network))
        #expect(try await scene.directory.addMember("a", to: "c", in: scene.network) == false)
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.directory.channel("c", in: scene.network) == Channel(id: "c"))
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "A"), at: 0, channelName: "C"))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "A")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C")
    }

    @Test func `replacing makes exactly these the members`() async throws {
        for user in ["a", "b"] as [UserID] {
            _ = try await scene.directory.addMember(user, to: "c", in: scene.network)
        }
        try await scene.directory.replaceMembers(of: "c", with: ["b", "e", "b"], in: scene.network)
        #expect(try await scene.members(of: "c") == ["b", "e"])
        try await scene.directory.replaceMembers(of: "c", with: [], in: scene.network)
        #expect(try await scene.members(of: "c") == [])
    }

    @Test func `members are listed in pages by the bytes of their ids`() async throws {
        try await scene.directory.replaceMembers(of: "c", with: ["é", "Z", "a", "e\u{301}", "B"], in: scene.network)
        let first = try await scene.directory.members(of: "c", in: scene.network, after: nil, limit: 3)
        #expect(first == ["B", "Z", "a"])
        let rest = try await scene.directory.members(of: "c", in: scene.network, after: "a", limit: 9)
        #expect(rest == ["e\u{301}", "é"])
    }

    @Test func `an import is applied line by line, the last one of a key winning`() async throws {
        _ = try await scene.directory.putUser(Person(id: "a", displayName: "Old"), in: scene.network)
        let batches: [[ImportRecord]] = [
            [
                .user(Person(id: "a", displayName: "One")), .user(Person(id: "a", displayName: "Two")),
                .member("c", "m"), .device(.log("d", of: "a")),
            ],
            [.channel(Channel(id: "c", displayName: "C")), .device(.log("d", of: "e")), .member("c", "a")],
        ]
        try await scene.importing(batches)
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Two")
        #expect(try await scene.directory.user("e", in: scene.network) == Person(id: "e"))
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C")
        #expect(try await scene.members(of: "c") == ["a", "m"])
        #expect(try await scene.devices.device("d", in: scene.network)?.userID == "e")
    }

    @Test func `an import that ends early leaves its beginning, and can be repeated`() async throws {
        struct Interruption: Error {}
        let records: [ImportRecord] = [
            .user(Person(id: "a", displayName: "A")), .member("c", "a"), .device(.log("d", of: "a")),
        ]
        let count = Mutex(0)
        await #expect(throws: Interruption.self) {
            try await scene.directory.apply(
                {
                    let turn = count.withLock { count in
                        count += 1
                        return count
                    }
                    guard turn == 1 else { throw Interruption() }
                    return records
                },
                in: scene.network
            )
        }
        #expect(try await scene.members(of: "c") == ["a"])
        try await scene.importing([records, [.user(Person(id: "b")), .member("c", "b")]])
        #expect(try await scene.members(of: "c") == ["a", "b"])
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "A")
        #expect(try await scene.devices.device("d", in: scene.network)?.userID == "a")
    }

    @Test func `of imported devices with one token the last keeps it`() async throws {
        func device(_ id: DeviceID, token: String) -> Device {
            Device(id, of: "a", .fcm(token: token, appID: "app"), at: .seconds(0))
        }
        try await scene.importing([[.device(device("d0", token: "x"))]])
        try await scene.importing([
            [.device(device("d1", token: "x")), .device(device("d2", token: "y"))],
            [.device(device("d3", token: "y")), .device(device("d4", token: "z")), .device(device("d5", token: "z"))],
            [.device(device("d1", token: "q")), .device(device("d3", token: "x"))],
        ])
        let devices = try await scene.devices.devices(of: "a", in: scene.network, after: nil, limit: 10)
        #expect(devices.map(\.id) == ["d1", "d3", "d5"])
    }

    @Test func `an imported member is none to events of before`() async throws {
        let event = Event.message("c", from: Person(id: "z"), at: 1)
        let id = try await scene.accept(event)[0]
        try await scene.importing([[.member("c", "a")]])
        #expect(try await scene.page(of: event, id).recipients.map(\.userID) == ["z"])
        #expect(try await scene.page(of: event).recipients.map(\.userID) == ["a", "z"])
    }
}

extension StoreScene {
    /// Applies an import that comes in these batches.
    func importing(_ batches: [[ImportRecord]], in network: NetworkID? = nil) async throws {
        let rest = Mutex(batches[...])
        try await directory.apply({ rest.withLock { $0.popFirst() } }, in: network ?? self.network)
    }
}
