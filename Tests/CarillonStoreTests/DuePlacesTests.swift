import CarillonCore
import CarillonTesting
import Testing

@testable import CarillonStore

@Suite struct DuePlacesTests {
    private let full = Lane(networkID: "a", provider: .fcm, appID: "full")

    private func place(_ network: NetworkID, since: Int64, lane: Lane? = nil) -> DuePlaces.Place {
        DuePlaces.Place(network: network, lane: lane, since: Timestamp(milliseconds: since))
    }

    private func exclusions(networks: [NetworkID] = [], lanes: [Lane] = []) -> ClaimExclusions {
        var exclusions = ClaimExclusions()
        exclusions.networks = networks
        exclusions.lanes = lanes
        return exclusions
    }

    @Test func `networks have their turns, but for those that are full`() {
        var places = DuePlaces()
        for name in ["a", "b", "c", "d"] as [NetworkID] { places.add(place(name, since: 5)) }
        #expect(places.next(2, after: nil).map(\.network) == ["a", "b"])
        #expect(places.next(3, after: "b").map(\.network) == ["c", "d", "a"])
        #expect(places.next(9, after: "d", excluding: exclusions(networks: ["b"])).map(\.network) == ["a", "c", "d"])
    }

    @Test func `the earliest that was found counts, until a walk has left it behind`() {
        var places = DuePlaces()
        places.add(place("a", since: 5))
        places.add(place("a", since: 9))
        #expect(places.next(1, after: nil) == [place("a", since: 5)])
        places.walked(place("a", since: 5), leaving: Timestamp(milliseconds: 7))
        #expect(places.next(1, after: nil) == [place("a", since: 7)])
        places.add(place("a", since: 3))
        places.walked(place("a", since: 7), leaving: nil)
        #expect(places.next(1, after: nil) == [place("a", since: 3)], "that was found while the walk went on")
        places.walked(place("a", since: 3), leaving: nil)
        #expect(places.next(1, after: nil).isEmpty)
    }

    @Test func `what a full lane was passed over with waits apart from its network`() {
        var places = DuePlaces()
        places.add(place("a", since: 5))
        places.walked(place("a", since: 5), leaving: nil, passing: [full])
        #expect(places.next(9, after: nil, excluding: exclusions(lanes: [full])).isEmpty)
        places.add(place("a", since: 100))
        #expect(places.next(9, after: nil, excluding: exclusions(lanes: [full])) == [place("a", since: 100)])
        #expect(places.lanesApart == [full])
        #expect(places.next(9, after: nil) == [place("a", since: 5, lane: full), place("a", since: 100)])
        places.walked(place("a", since: 5, lane: full), leaving: Timestamp(milliseconds: 8))
        #expect(places.next(1, after: nil) == [place("a", since: 8, lane: full)])
        places.walked(place("a", since: 8, lane: full), leaving: nil)
        #expect(places.lanesApart.isEmpty)
    }
}
