import Crypto
import Foundation
import Testing

@testable import CarillonSimulator

@Suite struct ReceivedNotificationsTests {
    private func notification(_ id: String?, status: Int? = 200) -> ReceivedNotification {
        var notification = ReceivedNotification(
            service: .fcm,
            receivedAt: .zero,
            deviceToken: "device-1",
            status: status,
            reason: nil
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

@Suite struct SubscriberTests {
    /// RFC 8291 appendix A.
    private static let privateKey = "q1dXpw3UpT5VOmu_cf_v6ih07Aems3njxI-JWgLcM94"
    private static let auth = "BTBZMqHH6r4Tts7J_aSIgg"
    /// RFC 8291 section 5.
    private static let message = """
        DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27ml\
        mlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPT\
        pK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN
        """

    private func subscriber() throws -> Subscriber {
        let key = try P256.KeyAgreement.PrivateKey(rawRepresentation: Token.bytes(base64URL: Self.privateKey))
        return Subscriber(privateKey: key, auth: Array(Token.bytes(base64URL: Self.auth)))
    }

    @Test func `decrypts the example of RFC 8291`() throws {
        let text = try #require(try subscriber().decrypt(Array(Token.bytes(base64URL: Self.message))))
        #expect(String(decoding: text, as: UTF8.self) == "When I grow up, I want to be a watermelon")
    }

    @Test func `decrypts no part of a message, and none with a bit that is wrong`() throws {
        let subscriber = try subscriber()
        let message = Array(Token.bytes(base64URL: Self.message))
        for length in message.indices { #expect(subscriber.decrypt(Array(message[..<length])) == nil) }
        for index in message.indices where !(16..<20).contains(index) {
            var wrong = message
            wrong[index] ^= 1
            #expect(subscriber.decrypt(wrong) == nil, "byte \(index)")
        }
    }
}

/// Does what docs/simulator.md tells people to do.
@Suite struct ManualTests {
    @Test func `the request that is made by hand is answered as the manual says`() async throws {
        let file = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../docs/simulator.md")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map(String.init)
        let number = try #require(lines.firstIndex { $0.hasPrefix("curl ") && $0.contains("/3/device/") })
        let command = lines[number]
        let headers = command.matches(of: /-H '([^:]+): ([^']+)'/).map { (String($0.1), String($0.2)) }
        let body = try #require(command.firstMatch(of: /-d '([^']+)'/)).1
        let path = try #require(command.firstMatch(of: /:PORT(\S+)/)).1
        try await withBench { bench in
            let url = bench.simulator.urls.apnsProduction + path
            let answer = try await bench.post(url, headers: headers, body: Array(body.utf8))
            #expect(String(decoding: answer.body, as: UTF8.self) == lines[number + 1])
        }
    }
}
