import CarillonTesting
import Foundation
import Testing

@testable import CarillonCore

@Suite struct IdentifierTests {
    @Test(arguments: ["a", "alice@example.org", "ผู้ใช้", "me", " ", "a/b?c#d%2F", String(repeating: "x", count: 256)])
    func `takes any text of 1 to 256 bytes`(text: String) {
        #expect(UserID(text)?.rawValue == text)
    }

    @Test(arguments: [
        "", String(repeating: "x", count: 257), String(repeating: "é", count: 129), "a\u{0}", "a\nb", "\u{7F}",
        "\u{85}", ".", "..",
    ])
    func `refuses what is empty, too long, a step in a path, or holds a control character`(text: String) {
        #expect(UserID(text) == nil)
    }

    @Test func `other bytes are another id, as in the database`() {
        let composed = UserID(trusted: "caf\u{E9}")
        let decomposed = UserID(trusted: "cafe\u{301}")
        #expect(composed.rawValue == decomposed.rawValue, "to String they are the same")
        #expect(composed != decomposed)
        #expect(Set([composed, decomposed, UserID(trusted: "caf\u{E9}")]).count == 2)
    }

    @Test func `sorts by bytes`() {
        let ids = ["b", "a", "Z", "é", "aa"].map { UserID(trusted: $0) }
        #expect(ids.sorted().map(\.rawValue) == ["Z", "a", "aa", "b", "é"])
    }
}

@Suite struct EventIDTests {
    @Test func `ids never go backwards, within a millisecond and when the clock is set back`() {
        let time = ManualTime(.seconds(5))
        let generator = UUIDv7Generator(clock: time.clock)
        var last = generator.next()
        for step in 0..<10_000 {
            if step == 5000 { time.advance(by: .seconds(-1)) }
            let next = generator.next()
            #expect(last.precedes(next))
            last = next
        }
    }

    @Test func `a clock that was wrong by more than a minute is not followed for ever`() {
        let time = ManualTime(.seconds(86_400))
        let generator = UUIDv7Generator(clock: time.clock)
        let ahead = generator.next()
        time.advance(by: .seconds(-60))
        #expect(ahead.precedes(generator.next()))
        time.advance(by: .seconds(-1))
        let now = generator.next()
        #expect(now.precedes(ahead))
        #expect(!now.precedes(UUID.version7Floor(of: time.clock.now())))
    }

    @Test func `a UUIDv7 carries its version, variant and time`() {
        let generator = UUIDv7Generator(clock: WallClock { Timestamp(milliseconds: 0x0123_4567_89AB) })
        let text = generator.next().canonicalText
        #expect(text.hasPrefix("01234567-89ab-7000-"))
        #expect("89ab".contains(text.dropFirst(19).first ?? "x"))
    }

    @Test func `the floor of a moment lies between the ids before and after`() {
        let before = UUIDv7Generator(clock: WallClock { Timestamp(milliseconds: 999) }).next()
        let after = UUIDv7Generator(clock: WallClock { Timestamp(milliseconds: 1000) }).next()
        let floor = UUID.version7Floor(of: Timestamp(milliseconds: 1000))
        #expect(before.precedes(floor))
        #expect(!after.precedes(floor))
    }

    @Test(arguments: ["", "x", "01234567-89ab-7000-8000-00000000000", "01234567-89ab-7000-8000-0000000000000"])
    func `reads only whole UUIDs`(text: String) {
        #expect(EventID(text) == nil)
    }
}

@Suite struct NotificationIDTests {
    @Test func `is the name-based UUID of event and device`() throws {
        // python3: uuid.uuid5(uuid.UUID("01900000-0000-7000-8000-000000000001"), "d-1")
        let event = try #require(EventID("01900000-0000-7000-8000-000000000001"))
        let id = NotificationID(event: event, device: "d-1")
        #expect(id.description == "c6706f26-28dd-53f7-b3c7-9fc805dad1a9")
        #expect(id != NotificationID(event: event, device: "d-2"))
    }
}

@Suite struct PageCursorTests {
    @Test(arguments: [PageCursor.user("bob"), .user("d:1"), .user("\u{1F514}"), .device("bob"), .device("")])
    func `is read as it was written`(cursor: PageCursor) {
        #expect(PageCursor(stored: cursor.stored) == cursor)
    }

    @Test func `a user's is what former releases wrote`() {
        #expect(PageCursor(stored: "bob") == .user("bob"))
        #expect(PageCursor.user("bob").stored == "bob")
    }
}

@Suite struct DeliveryCursorTests {
    @Test func `a cursor is read as it was written`() throws {
        let group = UUID()
        for device in ["d-1", "a:b:c", "::", "ü"] {
            let id = DeviceID(trusted: device)
            let cursors: [DeliveryCursor] = [
                .device(id), .pending(group: group, device: id, horizon: 7),
                .settled(row: .max, entry: 499, horizon: 12),
            ]
            for cursor in cursors { #expect(DeliveryCursor(cursor.description) == cursor) }
        }
    }

    @Test(arguments: [
        "", "d:", "x:1", "p:1:2:3", "p:1:00000000-0000-0000-0000-000000000000:", "s:1:2", "s:1:2:-1", "s:1:2:3:4",
        "s:1:2:9999999999999", "s:a:2:3", "d-1",
    ])
    func `anything else is no cursor`(text: String) {
        #expect(DeliveryCursor(text) == nil)
    }
}
