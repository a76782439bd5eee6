import CarillonCore
import CarillonTesting
import Testing

/// The story of DIALECTS section 2, told by each sender as far as it can tell it, through the whole pipeline: alice creates General
/// with bob and carol, dave joins, bob says Hello, dave leaves, the channel is renamed Lobby, carol says Bye; and at last carol calls
/// herself Caroline and says so.
@Suite(.timeLimit(.minutes(1))) struct StoryTests {
    @Test(arguments: Telling.all)
    func `tells everybody what the native format tells them`(_ telling: Telling) async throws {
        try await Stage.run(telling) { stage in
            for (number, (posts, told)) in zip(telling.steps, telling.told).enumerated() {
                let heard = try await stage.tell(posts)
                #expect(heard == told, "step \(number + 1)")
                // Senders try again.
                let again = try await stage.tell(posts)
                #expect(again == [], "step \(number + 1)")
            }
        }
    }

    @Test(arguments: Telling.all)
    func `whoever has switched notifications off is told nothing of it`(_ telling: Telling) async throws {
        try await Stage.run(telling, asleep: "bob") { stage in
            for (number, (posts, told)) in zip(telling.steps, telling.told).enumerated() {
                let others = told.filter { !$0.hasPrefix("bob:") }
                let heard = try await stage.tell(posts)
                #expect(heard == others, "step \(number + 1)")
            }
        }
    }
}
