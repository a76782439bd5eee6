import Logging

extension LaneKeeper {
    /// Takes devices back into use that were put out of use by reports that are not believed any more.
    func undoUnregistrations() async {
        let due = conditions.compactMapValues(\.undo)
        for (lane, undo) in due {
            do {
                let count = try await devices.restoreDevices(
                    lane.provider,
                    appID: lane.appID,
                    since: undo.since,
                    until: undo.until + .seconds(1),
                    in: lane.networkID
                )
                let conditions = try await book.laneConditions(of: lane.networkID)
                if conditions.moment > undo.until + .seconds(1) {
                    try await change(LaneSelection(lane), .undone(until: undo.until))
                }
                guard count > 0 else { continue }
                logger.notice(
                    "Devices that were unregistered by doubtful reports are used again",
                    metadata: ["lane": "\(lane)", "devices": "\(count)"]
                )
            } catch {
                logger.debug("Could not take devices back into use", metadata: ["error": "\(error)"])
            }
        }
    }
}
