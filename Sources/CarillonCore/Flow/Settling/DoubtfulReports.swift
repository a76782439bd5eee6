/// Reports of devices as gone that are not believed for now (``DeviceReports``).
package struct DoubtfulReports: Sendable, Equatable {
    /// How long these devices wait until they are tried again; it costs them no attempt.
    package static let wait = Duration.seconds(300)
    /// How long their lane is paused, where it is. Always the same: the devices wait for longer, so that the lane is tried
    /// with others, and a few dead devices do not keep it silent.
    package static let pause = Duration.seconds(60)

    package var targets: [Target]
    /// How many of how many were reported as gone.
    package var reason: String
    /// Whether the whole lane is to pause, since most of what it answers is this.
    package var pausesLane: Bool
}
