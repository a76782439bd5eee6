import Testing

@testable import CarillonCore

/// Small groups are most of what is sent: were each as much as a large one, eight devices would be sent to at a time.
@Suite struct GroupPlacesTests {
    @Test(
        arguments: [
            (ProviderName.apns, 1, 256), (.fcm, 4, 128), (.webpush, 9, 86), (.apns, 96, 8), (.apns, 500, 8),
            (.webhook, 1, 8), (.log, 1, 8), (.relay, 1, 32),
        ]
    )
    func `as many groups of a lane are sent at a time as one connection carries`(
        _ provider: ProviderName,
        _ devices: Int,
        _ groups: Int
    ) {
        let group = DeliveryGroup.test((0..<devices).map { .test("device \($0)") }, provider: provider)
        var queue = FairQueue<NetworkID, Lane, Int>(limits: .sending)
        for item in 0..<300 {
            _ = queue.reserve(1, of: group.lane.networkID, in: group.lane, at: .now)
            _ = queue.fill(item, weight: 1, places: group.places, of: group.lane.networkID, in: group.lane, at: .now)
        }
        #expect(queue.next(upTo: 1_000, at: .now).count == groups)
    }
}
