import Foundation
import Testing

@testable import CarillonCore

@Suite struct DeliveryPlaceTests {
    @Test func `a place is read as it was written`() throws {
        let group = UUID()
        for device in ["d-1", "a:b:c", "::", "ü"] {
            let id = DeviceID(trusted: device)
            let places: [DeliveryPlace] = [
                .device(id), .pending(group: group, device: id, horizon: 7),
                .settled(row: .max, entry: 499, horizon: 12),
            ]
            for place in places { #expect(DeliveryPlace(place.description) == place) }
        }
    }

    @Test(arguments: [
        "", "d:", "x:1", "p:1:2:3", "p:1:00000000-0000-0000-0000-000000000000:", "s:1:2", "s:1:2:-1", "s:1:2:3:4",
        "s:1:2:9999999999999", "s:a:2:3", "d-1",
    ])
    func `anything else is no place`(text: String) {
        #expect(DeliveryPlace(text) == nil)
    }
}
