/// That something of a network was changed, for other replicas to read it anew.
package struct Announcement: Sendable, Hashable {
    /// What was changed. The raw values go between replicas of different releases: one that is not known is passed over.
    package enum Topic: String, Sendable, CaseIterable {
        /// A network's settings, API keys, webhook secrets or keys of user tokens; also that it is new or gone.
        case network
        /// What a network is known by to push services.
        case credentials
        /// Paused lanes and brakes.
        case lanes
        /// Endpoints, and whether they are in use.
        case endpoints
        /// What networks are called by other systems' clients, and those clients' keys.
        case faces
        /// Networks' own templates.
        case templates
        /// Something is due that the replica that announces it has no room for.
        case work
        /// Which placements networks are in.
        case placements
    }

    package var topic: Topic
    package var networkID: NetworkID

    package init(_ topic: Topic, in networkID: NetworkID) {
        self.topic = topic
        self.networkID = networkID
    }
}

package enum AnnouncementBatch: Sendable, Equatable {
    case some(Set<Announcement>)
    /// More than could be listed, or nobody knows what: anything may have changed.
    case everything
}
