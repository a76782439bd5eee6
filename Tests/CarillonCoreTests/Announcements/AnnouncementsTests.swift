import CarillonCore
import Synchronization
import Testing

@Suite struct AnnouncementsTests {
    private static let acme = NetworkID(trusted: "acme")
    private static let other = NetworkID(trusted: "other")

    private final class Ear: Sendable {
        private let networks = Mutex<[NetworkID?]>([])
        var heard: [NetworkID?] { networks.withLock(\.self) }
        func hear(_ network: NetworkID?) { networks.withLock { $0.append(network) } }
    }

    private let announcements = Announcements()

    @Test func `what is announced waits once, until it is taken`() {
        #expect(announcements.take() == nil)
        for _ in 0..<3 { announcements.announce(.lanes, in: Self.acme) }
        announcements.announce(.work, in: Self.acme)
        let expected: Set = [Announcement(.lanes, in: Self.acme), Announcement(.work, in: Self.acme)]
        #expect(announcements.take() == .some(expected))
        #expect(announcements.take() == nil)
    }

    @Test func `what could not be told is told with what came after it`() throws {
        announcements.announce(.lanes, in: Self.acme)
        let batch = try #require(announcements.take())
        announcements.announce(.lanes, in: Self.other)
        announcements.putBack(batch)
        let expected: Set = [Announcement(.lanes, in: Self.acme), Announcement(.lanes, in: Self.other)]
        #expect(announcements.take() == .some(expected))
    }

    @Test func `more than can be listed is everything, and stays so until it is told`() {
        for number in 0...1_000 { announcements.announce(.work, in: NetworkID(trusted: "\(number)")) }
        announcements.announce(.work, in: Self.acme)
        #expect(announcements.take() == .everything)
        announcements.announce(.work, in: Self.acme)
        #expect(announcements.take() == .some([Announcement(.work, in: Self.acme)]))
    }

    @Test func `only subscribers of the topic are told, and nobody of what was announced here`() {
        let (announcements, lanes, work) = (Announcements(), Ear(), Ear())
        announcements.subscribe(to: .lanes) { lanes.hear($0) }
        announcements.subscribe(to: .work) { work.hear($0) }
        announcements.announce(.lanes, in: Self.acme)
        #expect(lanes.heard.isEmpty)
        announcements.deliver(.some([Announcement(.lanes, in: Self.acme)]))
        #expect(lanes.heard == [Self.acme])
        #expect(work.heard.isEmpty)
        announcements.deliver(.everything)
        #expect(lanes.heard == [Self.acme, nil])
        #expect(work.heard == [nil])
    }

    @Test func `many announcements in a row wake the carrier once`() async {
        for _ in 0..<10 { announcements.announce(.work, in: Self.acme) }
        var wakeups = announcements.wakeups.makeAsyncIterator()
        await wakeups.next()
        #expect(announcements.take() != nil)
        announcements.announce(.work, in: Self.other)
        await wakeups.next()
        #expect(announcements.take() == .some([Announcement(.work, in: Self.other)]))
    }
}
