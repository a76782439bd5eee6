import Logging

extension LaneHealth {
    private static let undoInterval = Duration.seconds(1)

    private var hasUndos: Bool { conditions.contains { $0.value.undo != nil } }

    /// Something was learnt of lanes: what is to be undone there is undone from now on.
    func callToUndo(_ conditions: some Sequence<LaneCondition>) {
        if conditions.contains(where: { $0.undo != nil }) { undos.call() }
    }

    /// Undoes as long as there is anything to undo, whenever there is, until graceful shutdown.
    func undoWhatIsToBeUndone() async {
        await undos.repeating(every: Self.undoInterval) {
            await self.undoUnregistrations()
            return self.hasUndos
        }
    }

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
                let conditions = try await store.laneConditions(of: lane.networkID)
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
