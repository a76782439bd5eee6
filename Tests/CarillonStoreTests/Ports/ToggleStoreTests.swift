import CarillonCore
import CarillonTesting
import Testing

/// What ``ToggleStore`` promises.
@Suite(.stores) struct ToggleStoreTests {
    let scene = StoreScene.here

    private let scopes: [ToggleScope] = [.network, .user("a"), .channel("a", "c")]

    @Test func `what was never set is an empty document of version 0`() async throws {
        for scope in scopes {
            let toggles = try await scene.toggles.toggles(scope, in: scene.network)
            #expect(toggles.document == [:])
            #expect(toggles.version == 0)
            #expect(toggles.updatedAt == nil)
        }
        let all = try await scene.toggles.toggles(for: "a", channel: "c", in: scene.network)
        #expect([all.network.version, all.user.version, all.channel.version] == [0, 0, 0])
    }

    @Test func `what is written is read back, with a new version each time`() async throws {
        for scope in scopes {
            for version in 1...2 {
                let document: JSONValue = ["enabled": false, "n": .number(JSONNumber(version))]
                let written = try #require(try await scene.toggles.set(scope, document, in: scene.network))
                #expect(written.version == Int64(version))
                let stored = try await scene.toggles.toggles(scope, in: scene.network)
                #expect(stored.document == document)
                #expect(stored.version == Int64(version))
                #expect(stored.updatedAt == written.updatedAt)
                #expect(stored.updatedAt != nil)
            }
        }
    }

    @Test func `a change sees the current document`() async throws {
        _ = try await scene.toggles.set(.user("a"), ["enabled": false], in: scene.network)
        let merged = try await scene.toggles.updateToggles(.user("a"), in: scene.network, by: .admin, expected: nil) {
            current in
            #expect(current == ["enabled": false])
            return ["enabled": true]
        }
        #expect(merged?.document == ["enabled": true])
    }

    @Test func `a version that is not expected is not overwritten`() async throws {
        for scope in scopes {
            _ = try await scene.toggles.set(scope, ["enabled": false], in: scene.network)
            let refused = try await scene.toggles.updateToggles(
                scope,
                in: scene.network,
                by: .admin,
                expected: { $0 == 0 },
                { _ in [:] }
            )
            #expect(refused == nil)
            #expect(try await scene.toggles.toggles(scope, in: scene.network).document == ["enabled": false])
            let accepted = try await scene.toggles.updateToggles(
                scope,
                in: scene.network,
                by: .admin,
                expected: { $0 == 1 },
                { _ in ["enabled": true] }
            )
            #expect(accepted?.version == 2)
        }
    }

    @Test func `what is removed is as never set, but for the version`() async throws {
        for scope in scopes {
            #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: nil))
            #expect(try await scene.toggles.toggles(scope, in: scene.network).version == 0)
            _ = try await scene.toggles.set(scope, ["enabled": false], in: scene.network)
            for _ in 1...2 {
                #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: nil))
                let removed = try await scene.toggles.toggles(scope, in: scene.network)
                #expect(removed.document == [:])
                #expect(removed.updatedAt == nil)
                #expect(removed.version == 2)
            }
            let written = try await scene.toggles.set(scope, ["enabled": true], in: scene.network)
            #expect(written?.version == 3)
            #expect(try await scene.toggles.toggles(scope, in: scene.otherNetwork).version == 0)
            #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: nil))
        }
        let all = try await scene.toggles.toggles(for: "a", channel: "c", in: scene.network)
        #expect([all.network.updatedAt, all.user.updatedAt, all.channel.updatedAt] == [nil, nil, nil])
    }

    @Test func `a version that is not expected is not removed`() async throws {
        for scope in scopes {
            #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: { $0 == 1 }) == false)
            _ = try await scene.toggles.set(scope, ["enabled": false], in: scene.network)
            #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: { $0 == 0 }) == false)
            #expect(try await scene.toggles.toggles(scope, in: scene.network).document == ["enabled": false])
            #expect(try await scene.toggles.removeToggles(scope, in: scene.network, expected: { $0 == 1 }))
            #expect(try await scene.toggles.toggles(scope, in: scene.network).document == [:])
        }
    }

    @Test func `a removed document has no place among those of the limit`() async throws {
        try await scene.setLimits { $0.channelsPerUser = 1 }
        func set(_ channel: ChannelID) async throws {
            try await scene.toggles.set(.channel("a", channel), to: ["enabled": false], in: scene.network, by: .user)
        }
        try await set("c1")
        await #expect(throws: LimitReached.self) { try await set("c2") }
        _ = try await scene.toggles.removeToggles(.channel("a", "c1"), in: scene.network, expected: nil)
        try await set("c2")
        await #expect(throws: LimitReached.self) { try await set("c1") }
    }

    @Test func `a change that throws writes nothing`() async throws {
        struct Refused: Error {}
        for scope in scopes {
            await #expect(throws: Refused.self) {
                try await scene.toggles.updateToggles(scope, in: scene.network, by: .admin, expected: nil) { _ in
                    throw Refused()
                }
            }
            #expect(try await scene.toggles.toggles(scope, in: scene.network).version == 0)
        }
        #expect(try await scene.directory.user("a", in: scene.network) == nil)
    }

    @Test func `concurrent changes come one after the other`() async throws {
        for scope in scopes {
            _ = try await inParallel(20) { _ in
                try await scene.toggles.updateToggles(scope, in: scene.network, by: .admin, expected: nil) { current in
                    guard case .object(let object) = current, case .number(let number)? = object["n"] else {
                        return ["n": 1]
                    }
                    return ["n": .number(JSONNumber((number.integer ?? 0) + 1))]
                }
            }
            let stored = try await scene.toggles.toggles(scope, in: scene.network)
            #expect(stored.document == ["n": 20])
            #expect(stored.version == 20)
        }
    }

    @Test func `setting a toggle adds the user to the directory`() async throws {
        _ = try await scene.toggles.set(.user("a"), [:], in: scene.network)
        _ = try await scene.toggles.set(.channel("b", "c"), [:], in: scene.network)
        #expect(try await scene.directory.user("a", in: scene.network) == Person(id: "a"))
        #expect(try await scene.directory.user("b", in: scene.network) == Person(id: "b"))
        try await scene.accept(.user(.userUpdated, Person(id: "a", displayName: "Alice"), at: 0))
        #expect(try await scene.directory.user("a", in: scene.network)?.displayName == "Alice")
    }

    @Test func `a channel's toggle makes no member, and stays when one joins and leaves`() async throws {
        _ = try await scene.toggles.set(.channel("a", "c"), ["mentionsOnly": true], in: scene.network)
        try await scene.accept(.message("c", from: Person(id: "z")))
        #expect(try await scene.members(of: "c") == ["z"])
        try await scene.accept(.members(.memberJoined, "c", ["a"], at: 1), .members(.memberLeft, "c", ["a"], at: 2))
        let toggles = try await scene.toggles.toggles(.channel("a", "c"), in: scene.network)
        #expect(toggles.document == ["mentionsOnly": true])
    }

    @Test func `an unknown network has no toggles to set`() async throws {
        await #expect(throws: (any Error).self) {
            try await scene.toggles.set(.network, [:], in: "none")
        }
    }

    @Test func `another network has its own toggles`() async throws {
        for scope in scopes {
            _ = try await scene.toggles.set(scope, ["enabled": false], in: scene.network)
            #expect(try await scene.toggles.toggles(scope, in: scene.otherNetwork).version == 0)
        }
        let all = try await scene.toggles.toggles(for: "a", channel: "c", in: scene.network)
        #expect([all.network.version, all.user.version, all.channel.version] == [1, 1, 1])
        let without = try await scene.toggles.toggles(for: "a", channel: nil, in: scene.network)
        #expect(without.channel.version == 0)
    }

    @Test func `a user's channels are those that they are a member of`() async throws {
        func channels(after: ChannelID? = nil, limit: Int = 9) async throws -> [ChannelID]? {
            let found = try await scene.toggles.channels(of: "a", in: scene.network, after: after, limit: limit)
            return found?.map(\.channel.id)
        }
        #expect(try await channels() == nil)
        for channel in ["é", "Z", "left", "emptied", "gone", "b"] as [ChannelID] {
            _ = try await scene.directory.addMember("a", to: channel, in: scene.network)
        }
        _ = try await scene.directory.addMember("other", to: "d", in: scene.network)
        _ = try await scene.toggles.set(.channel("a", "d"), ["enabled": false], in: scene.network)
        _ = try await scene.toggles.set(.channel("a", "b"), ["enabled": false], in: scene.network)
        _ = try await scene.directory.putChannel(Channel(id: "b", displayName: "B", isDirect: true), in: scene.network)
        _ = try await scene.directory.removeMember("a", from: "left", in: scene.network)
        try await scene.directory.replaceMembers(of: "emptied", with: ["other"], in: scene.network)
        _ = try await scene.directory.deleteChannel("gone", in: scene.network)
        #expect(try await channels() == ["Z", "b", "é"])
        #expect(try await channels(limit: 2) == ["Z", "b"])
        #expect(try await channels(after: "b", limit: 2) == ["é"])
        let found = try await scene.toggles.channels(of: "a", in: scene.network, after: "Z", limit: 1)?.first
        #expect(found?.channel == Channel(id: "b", displayName: "B", isDirect: true))
        #expect(found?.toggles.document == ["enabled": false])
        #expect(found?.toggles.version == 1 && found?.toggles.updatedAt != nil)
        #expect(try await scene.toggles.channels(of: "a", in: scene.otherNetwork, after: nil, limit: 9) == nil)
        _ = try await scene.directory.deleteUser("a", in: scene.network)
        _ = try await scene.directory.putUser(Person(id: "a"), in: scene.network)
        #expect(try await channels() == [])
    }

    @Test func `a user's documents for channels have a limit`() async throws {
        try await scene.setLimits { $0.channelsPerUser = 2 }
        func set(_ user: UserID, _ channel: ChannelID, by writer: Writer) async throws {
            try await scene.toggles.set(.channel(user, channel), to: ["enabled": false], in: scene.network, by: writer)
        }
        try await scene.accept(.created("mine", by: "a", members: ["a", "b"], id: "evt"))
        for channel in ["c1", "c2", "c1"] as [ChannelID] { try await set("a", channel, by: .user) }
        await #expect(throws: LimitReached(.channelsPerUser, 2)) { try await set("a", "mine", by: .user) }
        #expect(try await scene.toggles.toggles(.channel("a", "mine"), in: scene.network).version == 0)
        try await set("b", "c3", by: .user)
        try await set("a", "c3", by: .admin)
        try await set("a", "c3", by: .user)
        await #expect(throws: LimitReached.self) { try await set("a", "c4", by: .user) }
        try await scene.setLimits { $0.channelsPerUser = 4 }
        try await set("a", "c4", by: .user)
    }

    @Test func `documents that are begun at once do not go over the limit`() async throws {
        try await scene.setLimits { $0.channelsPerUser = 5 }
        let written = try await inParallel(20) { number -> Bool in
            do {
                _ = try await scene.toggles.updateToggles(
                    .channel("a", ChannelID(trusted: "c\(number)")),
                    in: scene.network,
                    by: .user,
                    expected: nil,
                    { _ in ["enabled": false] }
                )
                return true
            } catch is LimitReached {
                return false
            }
        }
        #expect(written.count { $0 } == 5)
    }
}
