/// Why something was not done where networks are in several placements.
package enum PlacementProblem: Error, Sendable, Equatable {
    /// The placement's PostgreSQL cannot be used at the moment, for a reason in plain words; nothing was changed.
    case unavailable(PlacementName, reason: String)
    /// The placement takes no new networks; without a name none does.
    case full(PlacementName?)
    /// The network is on its way to another placement; nothing was changed.
    case moving
    /// No placement of that name is configured here.
    case unknown(PlacementName)
    /// No network goes from one to the other: their tables are of different releases.
    case schemasDiffer(PlacementName, PlacementName)
}
