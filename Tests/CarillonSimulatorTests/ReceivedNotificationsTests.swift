import Testing

@testable import CarillonSimulator

@Suite struct ReceivedNotificationsTests {
    private func notification(_ id: String?, status: Int? = 200) -> ReceivedNotification {
        var notification = ReceivedNotification(
            service: .fcm,
            receivedAt: .zero,
            deviceToken: "device-1",
            status: status
        )
        notification.notificationID = id
        return notification
    }

    @Test func `gives up waiting in time`() async throws {
        let received = ReceivedNotifications(limit: 10)
        received.add(notification("a", status: 500))
        await #expect(throws: SimulatorError.timedOut(expected: 1, received: 0)) {
            try await received.wait(for: 1, acceptedOnly: true, timeout: .milliseconds(20))
        }
    }

    @Test func `stops waiting when cancelled`() async throws {
        let received = ReceivedNotifications(limit: 10)
        let waiter = Task { try await received.wait(for: 1) }
        waiter.cancel()
        await #expect(throws: CancellationError.self) { try await waiter.value }
    }

    @Test func `ends waiting with the last one, and at once when all are there`() async throws {
        let received = ReceivedNotifications(limit: 10)
        let waiter = Task { try await received.wait(for: 3).count }
        for id in ["a", "b", "c"] { received.add(notification(id)) }
        #expect(try await waiter.value == 3)
        #expect(try await received.wait(for: 2).count == 3)
    }

    @Test func `counts duplicates by id, and only what was accepted`() {
        let received = ReceivedNotifications(limit: 10)
        for id in ["a", "a", "b", nil] { received.add(notification(id)) }
        received.add(notification("b", status: 503))
        received.add(notification("b", status: nil))
        #expect(received.acceptedByID == ["a": 2, "b": 1])
        #expect(received.duplicates == 1)
        #expect(received.total == 6)
        #expect(received.accepted == 4)
        received.removeAll()
        #expect(received.total == 0)
        #expect(received.acceptedByID.isEmpty)
    }

    @Test func `remembers the newest up to its limit`() {
        let received = ReceivedNotifications(limit: 3)
        for id in ["a", "b", "c", "d", "e"] { received.add(notification(id)) }
        #expect(received.notifications.map(\.notificationID) == ["c", "d", "e"])
        #expect(received.acceptedByID.count == 3)
        #expect(received.total == 5)
    }

    @Test func `streams what arrives until the end`() async {
        let received = ReceivedNotifications(limit: 3)
        let stream = received.stream()
        for id in ["a", "b"] { received.add(notification(id)) }
        received.finish()
        var ids: [String?] = []
        for await notification in stream { ids.append(notification.notificationID) }
        #expect(ids == ["a", "b"])
    }
}
