/// On whose behalf something is written that users write for themselves.
package enum Writer: Sendable {
    /// An admin, or an import: what limits a user does not hold.
    case admin
    /// A user, by their token or through an app's key.
    case user
}
