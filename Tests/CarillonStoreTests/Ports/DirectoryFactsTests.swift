import CarillonCore
import CarillonTesting
import Testing

/// What ``EventInbox`` does to the directory when it accepts events.
@Suite(.stores) struct DirectoryFactsTests {
    let scene = StoreScene.here

    @Test func `an older event does not overwrite a name, a newer one does`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "Two"), at: 2, channelName: "C2"))
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "One"), at: 1, channelName: "C1"))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Two")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C2")
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "Three"), at: 3, channelName: "C3"))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Three")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C3")
    }

    @Test func `a newer event that confirms a name protects it from older ones`() async throws {
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Same"), at: 1))
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "Same"), at: 3))
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Late"), at: 2))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Same")
    }

    @Test func `of equal times the later event wins`() async throws {
        try await scene.acceptTogether(
            .user(.userUpdated, Person(id: "a", displayName: "First"), at: 1),
            .message("c", from: Person(id: "a", displayName: "Second"), at: 1)
        )
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Second")
        try await scene.accept(.message("c", from: Person(id: "a", displayName: "Third"), at: 1, id: "third"))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Third")
    }

    @Test func `what an event leaves out stays`() async throws {
        let alice = Person(id: "a", displayName: "Alice", locale: "th", roles: ["x", "\"y\""])
        try await scene.accept(.user(.userUpdated, alice, at: 1), .message("c", from: Person(id: "a"), at: 2))
        #expect(try await scene.directory.user("a", in: scene.network) == alice)
        try await scene.accept(.user(.userUpdated, Person(id: "a", roles: []), at: 3))
        let expected = Person(id: "a", displayName: "Alice", locale: "th", roles: [])
        #expect(try await scene.directory.user("a", in: scene.network) == expected)
    }

    @Test func `naming an id states nothing: an older event still describes it`() async throws {
        try await scene.accept(.message("c", from: Person(id: "a"), at: 5))
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.directory.channel("c", in: scene.network) == Channel(id: "c"))
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Alice"), at: 1))
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c", displayName: "C"), at: 1))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Alice")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C")
    }

    @Test func `events of one batch count in the order of their times`() async throws {
        try await scene.acceptTogether(
            .user(.userUpdated, Person(id: "a", displayName: "Two"), at: 2),
            .user(.userUpdated, Person(id: "a", displayName: "One", locale: "en"), at: 1),
            .members(.memberLeft, "c", ["b"], at: 8),
            .members(.memberJoined, "c", ["b"], at: 7),
            .members(.memberJoined, "c", ["d"], at: 9),
            .members(.memberLeft, "c", ["d"], at: 6)
        )
        #expect(
            try await scene.directory.user("a", in: scene.network)
                == Person(id: "a", displayName: "Two", locale: "en")
        )
        #expect(try await scene.members(of: "c") == ["d"])
    }

    @Test func `a field of an old event of a batch does not pass in the wake of a new one`() async throws {
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Five"), at: 5))
        try await scene.acceptTogether(
            .user(.userUpdated, Person(id: "a", displayName: "One"), at: 1),
            .user(.userUpdated, Person(id: "a", locale: "de"), at: 9)
        )
        #expect(
            try await scene.directory.user("a", in: scene.network)
                == Person(id: "a", displayName: "Five", locale: "de")
        )
    }

    @Test func `a deleted user loses everything, and older events do not bring them back`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a", "b"], at: 1),
            .user(.userUpdated, Person(id: "a", displayName: "Alice"), at: 1)
        )
        _ = try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network)
        _ = try await scene.toggles.set(.user("a"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("a", "c"), ["enabled": false], in: scene.network)
        try await scene.accept(.user(.userDeleted, Person(id: "a"), at: 5))
        #expect(try await scene.directory.user("a", in: scene.network) == nil)
        #expect(try await scene.members(of: "c") == ["b"])
        #expect(try await scene.devices.device("d", in: scene.network) == nil)
        try await scene.accept(
            .message("c", from: Person(id: "a", displayName: "Ghost"), at: 4),
            .members(.memberJoined, "c", ["a"], at: 3)
        )
        #expect(try await scene.directory.user("a", in: scene.network) == nil)
        #expect(try await scene.members(of: "c") == ["b"])
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 6))
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.members(of: "c") == ["a", "b"])
        let toggles = try await scene.toggles.toggles(for: "a", channel: "c", in: scene.network)
        #expect(toggles.user.document == [:])
        #expect(toggles.user.updatedAt == nil)
        #expect(toggles.channel.document == [:])
    }

    @Test func `a user deleted and described again within one batch starts anew`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a"], at: 1),
            .user(.userUpdated, Person(id: "a", displayName: "Alice", locale: "th"), at: 1)
        )
        try await scene.acceptTogether(
            .user(.userUpdated, Person(id: "a", displayName: "New"), at: 6),
            .user(.userDeleted, Person(id: "a"), at: 5),
            .members(.memberJoined, "e", ["a"], at: 4),
            .members(.memberJoined, "f", ["a"], at: 7)
        )
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a", displayName: "New"))
        #expect(try await scene.members(of: "c") == [])
        #expect(try await scene.members(of: "e") == [])
        #expect(try await scene.members(of: "f") == ["a"])
    }

    @Test func `a late deletion changes nothing that is newer, and ends what is older`() async throws {
        try await scene.accept(
            .created("c", by: nil, members: ["a"], at: 3),
            .members(.memberJoined, "e", ["a"], at: 5),
            .message("c", from: Person(id: "a", displayName: "Alice"), at: 5, channelName: "C")
        )
        _ = try await scene.devices.putDevice(.log("d", of: "a"), in: scene.network)
        try await scene.accept(
            .user(.userDeleted, Person(id: "a"), at: 4),
            .channel(.channelDeleted, Channel(id: "c"), at: 4)
        )
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Alice")
        #expect(try await scene.directory.channel("c", in: scene.network)?.displayName == "C")
        #expect(try await scene.members(of: "e") == ["a"])
        #expect(try await scene.devices.device("d", in: scene.network) != nil)
        // What a member writes is no newer word of their membership.
        #expect(try await scene.members(of: "c") == [])
        try await scene.accept(.message("c", from: Person(id: "a"), at: 6))
        #expect(try await scene.members(of: "c") == ["a"])
    }

    @Test func `a deleted channel has no members, and older events do not fill it`() async throws {
        try await scene.accept(
            .created("c", by: "a", members: ["b"], at: 1),
            .channel(.channelDeleted, Channel(id: "c"), at: 5)
        )
        #expect(try await scene.members(of: "c") == nil)
        try await scene.accept(.members(.memberJoined, "c", ["e"], at: 4))
        #expect(try await scene.members(of: "c") == nil)
        try await scene.accept(.members(.memberJoined, "c", ["f"], at: 6))
        #expect(try await scene.members(of: "c") == ["f"])
    }

    @Test func `creating makes members of the listed and of the creator`() async throws {
        try await scene.accept(.created("c", by: "z", members: ["b", "a"]))
        #expect(try await scene.members(of: "c") == ["a", "b", "z"])
    }

    @Test func `who left stays out until they join again`() async throws {
        try await scene.accept(.members(.memberLeft, "c", ["a"], at: 5), .members(.memberJoined, "c", ["a"], at: 4))
        #expect(try await scene.members(of: "c") == [])
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 6))
        #expect(try await scene.members(of: "c") == ["a"])
    }

    @Test func `a channel that nobody described is known and has no members`() async throws {
        try await scene.accept(.channel(.channelUpdated, Channel(id: "c"), at: 1))
        #expect(try await scene.members(of: "c") == [])
    }

    @Test func `what one network says is not known in another`() async throws {
        try await scene.accept(.created("c", by: "a", members: ["b"]))
        #expect(try await scene.directory.user("a", in: scene.otherNetwork) == nil)
        #expect(try await scene.directory.channel("c", in: scene.otherNetwork) == nil)
    }
}

extension Device {
    /// A device that writes to standard output.
    static func log(_ id: DeviceID, of user: UserID, locale: String? = nil, state: DeviceState = .active) -> Device {
        Device(id: id, userID: user, address: .log, locale: locale, state: state, registeredAt: .seconds(0))
    }
}

extension ToggleStore {
    /// Replaces a document.
    func set(_ scope: ToggleScope, _ document: JSONValue, in network: NetworkID) async throws -> Versioned<JSONValue>? {
        try await updateToggles(scope, in: network, by: .admin, expected: nil) { _ in document }
    }
}
