import CarillonCore
import CarillonTesting
import Foundation

extension MemoryStore {
    /// Puts deliveries through the queue that end dead; answers their letters.
    func giveUp(count: Int, in networkID: NetworkID, at now: Timestamp) async throws -> [UUID] {
        let ids = UUIDv7Generator()
        let channel = Channel(id: ChannelID(trusted: "general"))
        let event = Event(sourceID: "evt", type: .messageSent, timestamp: now, channel: channel)
        let id = EventID(ids.next())
        let incoming = IncomingEvent(
            networkID: networkID,
            id: id,
            receivedAt: now,
            event: event,
            body: Array(#"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{}}}"#.utf8),
            leased: false
        )
        _ = try await accept([incoming])
        let cause = DeliveryCause(
            eventID: id,
            eventType: .messageSent,
            channel: channel,
            actorRoles: [],
            mentions: [],
            receivedAt: now
        )
        let targets = (0..<count).map { number in
            Target(
                deviceID: DeviceID(trusted: "d-\(number)"),
                userID: UserID(trusted: "bob"),
                address: .log,
                registeredAt: now
            )
        }
        let group = DeliveryGroup(
            id: ids.next(),
            lane: Lane(networkID: networkID, provider: .log, appID: ""),
            cause: cause,
            notification: CarillonCore.Notification(locale: "en", title: "", body: ""),
            targets: targets,
            leased: true
        )
        let pending = try await claimEvents(limit: 1)
        _ = try await enqueue(pending.map { Expansion(event: $0, groups: [group], next: nil) })
        let records = targets.map { target in
            DeviceRecord(
                deviceID: target.deviceID,
                userID: target.userID,
                state: .dead,
                attempts: 1,
                reason: "410",
                at: now
            )
        }
        _ = try await settle([Settlement(group: group, records: records, remainders: [])])
        return try await deadLetters(in: networkID, after: nil, limit: count).map(\.id)
    }
}
