package import CarillonCore

package enum Principal: Sendable, Equatable {
    case `operator`
    case apiKey(APIKeyRole)
    /// A person, by a user token.
    case user(UserID)

    package var userID: UserID? {
        if case .user(let own) = self { own } else { nil }
    }
}

/// A caller in a network, and what they may do there (API section 2).
package struct Access: Sendable {
    package let network: Network
    package let principal: Principal
    /// What the caller's API key is listed by; `nil` for those who have none.
    var keyID: String?

    package var networkID: NetworkID { network.id }

    /// Who it is, among those who may ask for the same.
    package var admin: Admin { keyID.map(Admin.key) ?? .operator }

    /// For whom the caller writes, as far as limits and rules go.
    package var writer: Writer {
        switch principal {
        case .operator, .apiKey(.admin): .admin
        case .apiKey, .user: .user
        }
    }

    package func requireAdmin() throws(Problem) { try require(or: "an admin key is needed") }

    package func requireEvents() throws(Problem) {
        try require(.apiKey(.events), or: "an API key of role events or a signature is needed")
    }

    /// Passes those who may send notifications of their own.
    package func requireNotifications() throws(Problem) {
        try require(.apiKey(.notify), or: "an API key of role notify or admin is needed")
    }

    /// Passes those who may unregister devices, and perhaps register them.
    package func requireDevices() throws(Problem) {
        guard ownUser == nil else { return }
        try require(.apiKey(.device), or: "an app key, an admin key or a user token is needed")
    }

    /// Passes operators, admins and some others.
    private func require(_ others: Principal..., or words: String) throws(Problem) {
        guard writer == .admin || others.contains(principal) else { throw .forbidden(words) }
    }

    /// Passes those who may register devices; an app key only where the network lets it.
    package func requireDeviceRegistration() throws(Problem) {
        try requireDevices()
        guard principal == .apiKey(.device), network.deviceRegistration != .appKey else { return }
        throw .forbidden("this network's devices are registered with user tokens: see deviceRegistration")
    }

    package var ownUser: UserID? { principal.userID }

    /// The user whom a path names, as ``user(_:)``; of others users learn nothing, not even that they are there.
    package func knownUser(_ named: UserID) throws(Problem) -> UserID {
        if let ownUser, named != ownUser, !named.isReserved { throw .notFound() }
        return try user(named)
    }

    /// The user whom a path or query names: `me` is the user of a user token.
    ///
    /// Passes admins for everybody and users for themselves.
    package func user(_ named: UserID) throws(Problem) -> UserID {
        switch principal {
        case .user(let own):
            guard named.isReserved || named == own else {
                throw .forbidden("a user token speaks for its own user only")
            }
            return own
        case .operator, .apiKey(.admin):
            guard !named.isReserved else { throw .forbidden("me stands for the user of a user token") }
            return named
        case .apiKey:
            throw .forbidden("an admin key or the user's own token is needed")
        }
    }
}
