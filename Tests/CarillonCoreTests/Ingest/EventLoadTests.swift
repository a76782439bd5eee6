import CarillonTesting
import Testing

@testable import CarillonCore

@Suite struct EventLoadTests {
    @Test(arguments: [(0, 1), (49, 1), (50, 2), (10_000, 201)])
    func `an event counts in a commit by the people whose rows it writes`(people: Int, load: Int) {
        let named = (0..<people).map { Person(id: UserID(trusted: "u\($0)")) }
        var events = Array(repeating: Event(sourceID: "e", type: .memberJoined, timestamp: .seconds(0)), count: 4)
        events[0].members = named
        events[1].existingMembers = named
        events[2].invited = named
        events[3].people = named
        for event in events {
            let incoming = IncomingEvent(
                networkID: "acme",
                id: EventID(UUIDv7Generator().next()),
                receivedAt: .seconds(0),
                event: event,
                body: [],
                leased: false
            )
            #expect(incoming.load == load)
        }
    }
}
