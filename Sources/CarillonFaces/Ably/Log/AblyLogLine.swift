import CarillonCore

/// A line of the push log: why a push did not arrive, as a message of Ably's (FACES E7).
struct AblyLogLine: Sendable {
    /// Where it stands: lines are in the order of their times, and those of one time in an order of their own.
    let cursor: FailureCursor
    private let id: String
    private let error: AblyError
    private var device: DeviceID?
    private var client: UserID?
    private var channel: String?
    private var messageID: String?

    /// A device that was not reached; `nil` for what is no concern of the caller's application.
    init?(_ failure: FailedDelivery, for caller: AblyCaller) {
        let publisher = failure.sourceID.flatMap(AblySource.appID)
        // Of what a former release wrote down it is not known of which app it was.
        guard caller.settings.reaches(failure.provider, appID: failure.appID),
            publisher ?? caller.appID == caller.appID,
            failure.appID != nil || publisher != nil
        else { return nil }
        cursor = failure.cursor
        id = "\(failure.eventID):\(failure.cursor.number):\(failure.cursor.entry)"
        let record = failure.record
        error =
            switch record.state {
            case .expired: AblyError.pushExpired.because(record.reason)
            case .dead: AblyError.givenUp(because: record.reason)
            default: AblyError.tokenInvalid.because(record.reason)
            }
        // What came with a notification is no device that Ably's clients could know.
        device = record.deviceID.isOfAddress ? nil : record.deviceID
        client = record.userID.isNobody ? nil : record.userID
        channel = failure.channelID?.rawValue
        messageID = failure.sourceID.flatMap(AblySource.messageID)
    }

    /// A lane that is paused; `nil` for one that is not, or is no concern of the caller's application.
    init?(_ status: LaneStatus, for caller: AblyCaller) {
        guard status.circuit == .open, let since = status.since, status.lane.networkID == caller.network.id,
            caller.settings.reaches(status.lane.provider, appID: status.lane.appID)
        else { return nil }
        let name = "\(status.lane.provider.rawValue):\(status.lane.appID)"
        // A number that stays the same from one page to the next (FNV-1a).
        let number = name.utf8.reduce(UInt32(2_166_136_261)) { ($0 ^ UInt32($1)) &* 16_777_619 }
        cursor = FailureCursor(microseconds: since.milliseconds * 1000, number: -1, entry: Int(number))
        id = "\(name):\(since.milliseconds)"
        error = .paused(because: status.reason)
    }

    /// A message on a channel where push is not enabled.
    init(_ entry: JournalEntry) {
        cursor = FailureCursor(microseconds: entry.at.milliseconds * 1000, number: 0, entry: entry.numberInMillisecond)
        id = EventID(entry.id).description
        error = .notEnabled
        channel = entry.note.channel
        messageID = entry.note.messageID
    }

    var json: JSONValue {
        let data: JSONValue = [
            "error": ["code": JSONValue(error.code), "message": .string(error.message)],
            "deviceId": device.map { .string($0.rawValue) }, "clientId": client.map { .string($0.rawValue) },
            "channel": channel.map(JSONValue.string), "messageId": messageID.map(JSONValue.string),
        ]
        return [
            "id": .string(id), "timestamp": JSONValue(Int(cursor.moment.milliseconds)), "name": "push",
            "encoding": "json", "data": .string(data.serializedText),
        ]
    }
}
