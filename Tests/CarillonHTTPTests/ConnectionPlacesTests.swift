import CarillonCore
import Testing

@testable import CarillonEdge
@testable import CarillonHTTP

@Suite struct ConnectionPlacesTests {
    private let alice = IPAddress.v4(1)
    private let bob = IPAddress.v4(2)

    @Test func `when all places are taken, the one that has waited longest goes`() {
        var places = ConnectionPlaces(places: 3, placesPerAddress: 3)
        for id in 1...3 as ClosedRange<UInt64> { #expect(places.open(id, from: nil) == .admitted) }
        #expect(places.open(4, from: nil) == .displaces(1))
        #expect(places.open(5, from: nil) == .displaces(2))
        #expect(places.count == 3)
    }

    @Test func `whoever has had an answer has waited since then`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: nil)
        _ = places.open(2, from: nil)
        places.works(1)
        places.waits(1)
        #expect(places.open(3, from: nil) == .displaces(2))
        #expect(places.open(4, from: nil) == .displaces(1))
    }

    @Test func `work in hand is never interrupted for somebody new`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        for id in 1...2 as ClosedRange<UInt64> {
            _ = places.open(id, from: nil)
            places.works(id)
        }
        #expect(places.open(3, from: nil) == .admitted)
        places.works(3)
        places.waits(2)
        #expect(places.open(4, from: nil) == .displaces(2))
    }

    @Test func `an address that has its share displaces itself and nobody else`() {
        var places = ConnectionPlaces(places: 10, placesPerAddress: 2)
        #expect(places.open(1, from: bob) == .admitted)
        #expect(places.open(2, from: alice) == .admitted)
        #expect(places.open(3, from: alice) == .admitted)
        #expect(places.open(4, from: alice) == .displaces(2))
        places.works(3)
        #expect(places.open(5, from: alice) == .displaces(4))
        places.works(5)
        #expect(places.open(6, from: alice) == .refused)
        #expect(places.open(7, from: bob) == .admitted)
        #expect(places.count == 4)
        places.close(3)
        #expect(places.open(8, from: alice) == .admitted)
    }

    @Test func `those without a share of their own may have all places`() {
        var places = ConnectionPlaces(places: 10, placesPerAddress: 1)
        for id in 1...10 as ClosedRange<UInt64> { #expect(places.open(id, from: nil) == .admitted) }
    }

    @Test func `what is closed or displaced is not heard of again`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: alice)
        _ = places.open(2, from: alice)
        places.close(1)
        places.close(1)
        places.waits(1)
        #expect(places.open(3, from: bob) == .admitted)
        #expect(places.open(4, from: bob) == .displaces(2))
        places.works(2)
        places.waits(2)
        places.close(2)
        #expect(places.count == 2)
        #expect(places.open(5, from: bob) == .displaces(3))
    }

    @Test func `many requests on few connections do not pile up`() {
        var places = ConnectionPlaces(places: 2, placesPerAddress: 2)
        _ = places.open(1, from: alice)
        _ = places.open(2, from: alice)
        for _ in 1...100_000 {
            places.works(1)
            places.waits(1)
        }
        #expect(places.linesCount < 100)
        #expect(places.open(3, from: bob) == .displaces(2))
    }
}
