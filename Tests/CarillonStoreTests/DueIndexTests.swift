import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonStore

@Suite struct DueIndexTests {
    private let full = Lane(networkID: "a", provider: .fcm, appID: "full")

    private func entry(_ network: NetworkID, since: Int64, lane: Lane? = nil) -> DueIndex.Entry {
        DueIndex.Entry(network: network, lane: lane, since: Timestamp(milliseconds: since))
    }

    private func exclusions(networks: [NetworkID] = [], lanes: [Lane] = []) -> ClaimExclusions {
        var exclusions = ClaimExclusions()
        exclusions.networks = networks
        exclusions.lanes = lanes
        return exclusions
    }

    @Test func `networks have their turns, but for those that are full`() {
        var entries = DueIndex()
        for name in ["a", "b", "c", "d"] as [NetworkID] { entries.add(entry(name, since: 5)) }
        #expect(entries.next(2, after: nil).map(\.network) == ["a", "b"])
        #expect(entries.next(3, after: "b").map(\.network) == ["c", "d", "a"])
        #expect(entries.next(9, after: "d", excluding: exclusions(networks: ["b"])).map(\.network) == ["a", "c", "d"])
    }

    @Test func `the earliest that was found counts, until a walk has left it behind`() {
        var entries = DueIndex()
        entries.add(entry("a", since: 5))
        entries.add(entry("a", since: 9))
        #expect(entries.next(1, after: nil) == [entry("a", since: 5)])
        entries.walked(entry("a", since: 5), leaving: Timestamp(milliseconds: 7))
        #expect(entries.next(1, after: nil) == [entry("a", since: 7)])
        entries.add(entry("a", since: 3))
        entries.walked(entry("a", since: 7), leaving: nil)
        #expect(entries.next(1, after: nil) == [entry("a", since: 3)], "that was found while the walk went on")
        entries.walked(entry("a", since: 3), leaving: nil)
        #expect(entries.next(1, after: nil).isEmpty)
    }

    @Test func `what a full lane was passed over with waits apart from its network`() {
        var entries = DueIndex()
        entries.add(entry("a", since: 5))
        entries.walked(entry("a", since: 5), leaving: nil, passing: [full])
        #expect(entries.next(9, after: nil, excluding: exclusions(lanes: [full])).isEmpty)
        entries.add(entry("a", since: 100))
        #expect(entries.next(9, after: nil, excluding: exclusions(lanes: [full])) == [entry("a", since: 100)])
        #expect(entries.lanesApart == [full])
        #expect(entries.next(9, after: nil) == [entry("a", since: 5, lane: full), entry("a", since: 100)])
        entries.walked(entry("a", since: 5, lane: full), leaving: Timestamp(milliseconds: 8))
        #expect(entries.next(1, after: nil) == [entry("a", since: 8, lane: full)])
        entries.walked(entry("a", since: 8, lane: full), leaving: nil)
        #expect(entries.lanesApart.isEmpty)
    }
}
