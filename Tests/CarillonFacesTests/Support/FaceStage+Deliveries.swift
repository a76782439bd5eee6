import CarillonCore
import CarillonTesting
import Testing

extension FaceStage {
    /// Puts a notification through the queue, to devices each of which ends as its record says, one after the other.
    func settle(
        _ records: [DeviceRecord],
        in lane: Lane,
        called sourceID: String,
        channel: ChannelID? = nil
    ) async throws {
        let now = database.time.clock.now()
        var body: JSONObject = ["id": .string(sourceID), "to": ["userIds": ["alice"]], "body": "x"]
        body["channelId"] = channel.map { .string($0.rawValue) }
        let parser = NotificationParser(
            clock: database.time.clock,
            addresses: DeviceAddressReader(egress: .unrestricted, webPushHosts: WebPushHosts(["*"]))
        )
        guard
            case .single(let parsed) = try parser.parse(
                body: JSONValue.object(body).serialized,
                makeSourceID: { _ in sourceID }
            )
        else { throw Unsettled() }
        let receipts = try await store.ingest([parsed], in: lane.networkID, store.ids, at: now)
        let claimed = try await store.inbox.claimEvents(limit: 1_000, excluding: [])
        let event = try #require(claimed.first { $0.id == receipts[0].id })
        let cause = DeliveryCause(event.id, event.event.type, in: Channel(id: channel ?? "none"), at: now)
        let settlements = records.map { record in
            let target = Target(deviceID: record.deviceID, userID: record.userID)
            let group = DeliveryGroup(
                id: store.ids.next(),
                lane: lane,
                cause: cause,
                payload: .devices(DevicePush(Push(Notification(locale: "en", title: "", body: "")))),
                targets: [target],
                leased: true
            )
            return Settlement(group: group, records: [record], remainders: [])
        }
        _ = try await store.queue.enqueue([Expansion(event: event, groups: settlements.map(\.group), next: nil)])
        try #require(try await store.queue.settle(settlements, lockWait: .seconds(5)).stale.isEmpty)
    }
}

private struct Unsettled: Error {}
