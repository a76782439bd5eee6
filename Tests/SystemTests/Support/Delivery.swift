import Testing

extension TestNetwork {
    /// Makes a channel with these members, each with a device of the `log` provider.
    func addMembers(_ members: [String]) async throws {
        for member in members { try await addLogDevice("\(member)-device", of: member) }
        _ = try await done(try await accept(TestEvents.channelCreated("channel", members: members)))
    }
}

/// Waits until every event was written for every member, by whichever of the processes.
func expectDelivery(
    of events: Set<String>,
    to members: [String],
    from services: [RunningService],
    within limit: Duration = .seconds(30)
) async throws {
    let expected = Set(events.flatMap { event in members.map { "\(event) \($0)-device" } })
    try await eventually(within: limit, "delivery of all \(events.count) acknowledged events") {
        let delivered = Set(services.flatMap(\.logLines).map { "\($0.eventID) \($0.deviceID)" })
        return expected.isSubset(of: delivered)
    }
}

/// How many lines were written more than once.
func duplicates(from services: [RunningService]) -> Int {
    let lines = services.flatMap(\.logLines)
    return lines.count - Set(lines).count
}
