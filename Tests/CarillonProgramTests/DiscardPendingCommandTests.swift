import ArgumentParser
import CarillonCore
import CarillonStore
import Testing

@testable import carillon

@Suite struct DiscardPendingCommandTests {
    @Test(arguments: [
        (["--network", ".."], "--network is a network's id"), (["--before", "yesterday"], "--before is a time"),
        (["--before", "2026-11-24"], "--before is a time"),
    ])
    func `what cannot be meant is refused before anything is looked at`(arguments: [String], words: String) {
        #expect {
            _ = try Carillon.parseAsRoot(["discard-pending"] + arguments)
        } throws: { error in
            Carillon.fullMessage(for: error).contains(words)
        }
    }

    @Test func `how much waits is said in words, and of what is not there nothing`() throws {
        var counts = PendingWork.Counts()
        #expect(counts.lines.isEmpty && counts.span.isEmpty)
        (counts.devices, counts.messages, counts.replays) = (1, 2, 1)
        let moment = try #require(Timestamp(rfc3339: "2026-11-24T03:00:00Z"))
        counts.accepted = moment...moment
        #expect(counts.lines == ["1 notification to a device", "2 messages to endpoints", "1 replay for an endpoint"])
        #expect(counts.span == ", of an event accepted at 2026-11-24T03:00:00.000Z")
        counts.events = 1
        counts.accepted = moment...(moment + .seconds(60))
        #expect(counts.lines.first == "1 event whose recipients were still to be found")
        #expect(counts.span == ", of events accepted from 2026-11-24T03:00:00.000Z to 2026-11-24T03:01:00.000Z")
    }
}
