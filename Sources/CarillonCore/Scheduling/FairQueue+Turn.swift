extension FairQueue {
    /// An item whose turn it is: it takes a place until ``finished(_:at:)``.
    package struct Turn: Sendable {
        /// Whose it is.
        package let tenant: Tenant
        /// The lane it waited in.
        package let lane: Lane
        /// What waited.
        package var item: Item
        /// Whether it finds out if its paused lane works again.
        package let isProbe: Bool
        /// How many places it takes.
        var places: Int
    }
}
