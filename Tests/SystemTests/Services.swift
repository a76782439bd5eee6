import Testing

/// Tests that start services; one after the other, so that each has the machine for itself.
@Suite(.serialized) enum Services {}

/// Tests that may have to wait until leases run out; beside each other and beside the rest, since they mostly wait.
@Suite enum Crashes {
    /// Longer than promise P6 gives the service: a lease of 60 s and 30 s more.
    static let patience = Duration.seconds(95)
}

extension Services {
    /// Tests in which somebody misbehaves beside an innocent network; they compare times, so they are among those that have
    /// the machine for themselves.
    @Suite enum Neighbours {}
}
