import CarillonCore

extension DeliveryGroup {
    /// What an app gets besides the text, in the order of the contract: all but the id of the device's notification.
    var payloadData: JSONObject {
        var data = JSONObject()
        data["eventId"] = .string(cause.eventID.description)
        data["eventType"] = .string(cause.eventType.rawValue)
        data["networkId"] = .string(lane.networkID.rawValue)
        data["channelId"] = .string(cause.channel.id.rawValue)
        return data
    }

    /// How many seconds are left until the notification is no longer worth delivering.
    func secondsLeft(at now: Timestamp) -> Int {
        max(0, Int((expiresAt - now).wholeMilliseconds / 1_000))
    }
}
