/// What came of asking whose a token is.
package enum UserTokenAnswer: Sendable, Equatable {
    case user(UserID)
    /// Nobody's: it proves nothing.
    case nobody
    /// That is not known, because there was no answer; in a few words, without address and token.
    case failed(reason: String)
}

/// Asks networks' servers whose tokens are, at permitted addresses only.
package protocol UserTokenAsker: Sendable {
    /// Asks once.
    func ask(
        _ introspection: UserTokenIntrospection,
        about token: Secret,
        in network: NetworkID
    ) async -> UserTokenAnswer
}
