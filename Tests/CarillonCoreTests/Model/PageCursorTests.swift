import CarillonTesting
import Testing

@testable import CarillonCore

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
