/// A server of a version that migrations and statements are not written for.
package struct ServerTooOld: Error, Equatable, CustomStringConvertible {
    package static let oldest = 15

    package let version: Int

    /// Whether a server of that number is too old: `140009` is 14.9.
    package init?(versionNumber: Int) {
        version = versionNumber / 10_000
        guard version < Self.oldest else { return nil }
    }

    package var description: String {
        """
        PostgreSQL \(version) is too old, \(Self.oldest) or later is needed: upgrade the server with its data by pg_upgrade, on Debian and \
        Ubuntu pg_upgradecluster \(version) main
        """
    }
}
