import CarillonCore
import CarillonTesting
import Testing

/// How long the name lasts that stands in where no other was stated.
@Suite(.stores) struct FallbackNameTests {
    let scene = StoreScene.here

    private func updated(_ fallback: String, at time: Int64) -> Event {
        .channel(.channelUpdated, Channel(id: "c", fallbackName: fallback), at: time)
    }

    private func message(at time: Int64) -> Event {
        var message = Event.message("c", from: Person(id: "a"), at: time)
        message.channel?.fallbackName = ""
        return message
    }

    private var name: String? {
        get async throws { try await scene.directory.channel("c", in: scene.network)?.knownName }
    }

    @Test func `an update without a fallback takes the one from before away, and nothing else does`() async throws {
        try await scene.accept(updated("#alias", at: 1), message(at: 2))
        #expect(try await name == "#alias")
        let event = updated("", at: 3)
        try await scene.accept(event)
        #expect(try await name == "")
        let told = message(at: 4)
        let id = try await scene.accept(told)[0]
        let query = RecipientQuery(networkID: scene.network, eventID: id, event: told)
        let page = try await scene.recipients.page(for: query)
        #expect(told.channel?.shownName(stored: page.names.channel, isDirect: false) == nil)
        try await scene.accept(updated("#other", at: 5))
        #expect(try await name == "#other")
    }

    @Test func `of several of one batch the last one counts`() async throws {
        try await scene.accept(updated("#first", at: 1))
        _ = try await scene.acceptTogether(updated("#second", at: 2), updated("", at: 3), message(at: 4))
        #expect(try await name == "")
        _ = try await scene.acceptTogether(updated("", at: 5), updated("#third", at: 6), message(at: 7))
        #expect(try await name == "#third")
        // Beside what says nothing new of a member.
        _ = try await scene.acceptTogether(message(at: 8), updated("", at: 9))
        #expect(try await name == "")
    }
}
