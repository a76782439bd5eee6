import CarillonTesting
import Foundation
import Testing

@testable import CarillonCore

@Suite struct RelayBundlesTests {
    private let ids = UUIDv7Generator()
    private let lane = Lane("e-1", in: "acme")

    private func event(at milliseconds: Int64) -> EventID {
        EventID(.version7(milliseconds: milliseconds, sequence: 0, random: .random(in: 0...(.max))))
    }

    @Test func `a row takes so many messages and no more, of one endpoint`() {
        var bundles = RelayBundles()
        let rows = (0..<250).map { _ in bundles.place(for: event(at: 5), in: lane, ids: ids) }
        #expect(Set(rows).count == 3 && rows[0] == rows[99] && rows[99] != rows[100] && rows[249] == rows[200])
        #expect(bundles.place(for: event(at: 5), in: Lane("e-2", in: "acme"), ids: ids) != rows[249])
    }

    @Test func `events of one row are not far apart, in whatever order they come`() {
        var bundles = RelayBundles()
        let first = bundles.place(for: event(at: 1_000), in: lane, ids: ids)
        #expect(bundles.place(for: event(at: 1_500), in: lane, ids: ids) == first)
        #expect(bundles.place(for: event(at: 1_000), in: lane, ids: ids) == first)
        let second = bundles.place(for: event(at: 999), in: lane, ids: ids)
        #expect(second != first)
        #expect(bundles.place(for: event(at: 600), in: lane, ids: ids) == second)
        #expect(bundles.place(for: event(at: 1_101), in: lane, ids: ids) != second)
    }

    @Test func `parts of a row have the first event as their cause, and the longest life`() throws {
        let row = ids.next()
        let groups = [(1_200, 9), (1_100, 7), (1_300, 8)].map { moment, end in
            DeliveryGroup(
                id: row,
                relaying: event(at: moment),
                .messageSent,
                receivedAt: Timestamp(milliseconds: moment),
                to: "e-1",
                in: "acme",
                on: RelayTerms(expiresAt: Timestamp(milliseconds: end))
            )
        }
        let joined = groups.joined
        let bundle = try #require(joined.first)
        #expect(joined.count == 1 && bundle.targets == groups.flatMap(\.targets))
        #expect(bundle.cause.eventID == groups[1].cause.eventID && bundle.expiresAt == Timestamp(milliseconds: 9))
    }
}
