extension Lane {
    /// What endpoints that ask for it are told of a change of this lane; `nil` when it is sent to as before. Endpoints are not
    /// told of each other.
    package func feedback(
        from former: LaneCondition?,
        to condition: LaneCondition,
        for endpoints: [Endpoint],
        at now: Timestamp,
        ids: UUIDv7Generator
    ) -> FeedbackMessage? {
        guard endpoint == nil, (former?.pause == nil) != (condition.pause == nil) else { return nil }
        let type = condition.pause == nil ? FeedbackType.laneResumed : .lanePaused
        let data = data(of: condition.pause ?? former?.pause)
        return FeedbackMessage(type, data, in: networkID, to: endpoints, at: now, ids: ids)
    }

    private func data(of pause: LaneCondition.Pause?) -> JSONObject {
        [
            "provider": .string(provider.rawValue),
            "appId": app.map(JSONValue.string),
            "host": host.map(JSONValue.string),
            "since": pause.map { JSONValue($0.since) },
            "reason": pause.map { .string($0.reason) },
        ]
    }
}
