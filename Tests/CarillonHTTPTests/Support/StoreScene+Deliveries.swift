import CarillonCore
import CarillonTesting
import Foundation

extension StoreScene {
    /// Puts deliveries through the queue that end dead; answers their letters.
    func giveUp(count: Int, in networkID: NetworkID, at now: Timestamp) async throws -> [UUID] {
        let devices = (0..<count).map { number in
            Device("d-\(number)", of: "bob", at: now)
        }
        try await settle(devices, in: networkID, at: now) { target in
            target.record(.dead, reason: "410", at: now)
        }
        return try await history.deadLetters(in: networkID, after: nil, limit: count).map(\.id)
    }

    /// Lets a provider report devices as gone.
    func unregister(_ devices: [Device], in networkID: NetworkID, at now: Timestamp) async throws {
        try await settle(devices, in: networkID, at: now) { target in
            let effect = DeviceEffect.unregister(ifRegisteredBefore: now + .seconds(1), error: "UNREGISTERED")
            return target.record(.unregistered, at: now, effect: effect)
        }
    }

    /// Puts an event's deliveries to devices of one lane through the queue, with these ends.
    private func settle(
        _ devices: [Device],
        in networkID: NetworkID,
        at now: Timestamp,
        record: (Target) -> DeviceRecord
    ) async throws {
        let channel = Channel(id: "general")
        let id = EventID(ids.next())
        let event = Event(sourceID: "\(id)", type: .messageSent, timestamp: now, channel: channel)
        let incoming = IncomingEvent(
            networkID: networkID,
            id: id,
            receivedAt: now,
            event: event,
            body: Array(#"{"type":"message.sent","data":{"channel":{"id":"c"},"user":{"id":"a"},"message":{}}}"#.utf8),
            leased: false
        )
        _ = try await inbox.accept([incoming], lockWait: .milliseconds(300))
        let targets = devices.map { Target($0) }
        let address = devices.first?.address ?? .log
        let group = DeliveryGroup(
            id: ids.next(),
            lane: Lane(networkID: networkID, provider: address.provider, appID: address.appID),
            cause: DeliveryCause(id, in: channel, at: now),
            payload: .devices(DevicePush(Push(CarillonCore.Notification(locale: "en", title: "", body: "")))),
            targets: targets,
            leased: true
        )
        let pending = try await inbox.claimEvents(limit: 1, excluding: [])
        _ = try await queue.enqueue(pending.map { Expansion(event: $0, groups: [group], next: nil) })
        let settlement = Settlement(group: group, records: targets.map(record), remainders: [])
        _ = try await queue.settle([settlement], lockWait: .seconds(5))
    }
}
