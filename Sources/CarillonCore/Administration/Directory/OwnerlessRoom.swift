/// Which devices that came with a notification make room for new ones, where a network has as many of nobody's as it may have.
///
/// Anybody can make addresses up, but nobody can have something delivered to them: so those of strangers never keep out what a
/// homeserver brings that the network knows.
package enum OwnerlessRoom {
    /// After how long without being named any of them may go.
    package static let age = Duration.seconds(86_400)
    /// After how long one may go to which nothing was ever delivered, for a caller whom the network knows: until then it may be on its
    /// way.
    package static let knownPatience = Duration.seconds(60)
    package static let strangePatience = Duration.seconds(600)

    /// After how long one may go to which nothing was ever delivered.
    package static func patience(withStrangers: Bool) -> Duration { withStrangers ? strangePatience : knownPatience }
}
