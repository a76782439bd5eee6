import CarillonCore

extension Target {
    /// What became of it: delivered just now, at the first attempt.
    var deliveredNow: DeviceRecord {
        DeviceRecord(deviceID: deviceID, userID: userID, state: .delivered, attempts: 1, at: WallClock.system.now())
    }
}
