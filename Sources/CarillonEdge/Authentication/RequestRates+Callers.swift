import CarillonCore

extension RequestRates {
    /// Counts a request of a user or of an app's key. Admins, backends and the operator have no rate.
    ///
    /// - Throws: 429 when it is too much.
    func take(for access: Access) throws(Problem) {
        let rates = access.network.limits.requestsPerSecond
        switch (access.principal, access.keyID) {
        case (.user(let user), _): try take(from: .user(access.networkID, user), rate: rates.user)
        case (.apiKey(.device), let keyID?): try take(from: .key(access.networkID, keyID), rate: rates.app)
        default: break
        }
    }

    /// Counts a request whose proof is none, where that is not told by 401.
    ///
    /// - Throws: 429 when they are too many.
    package func takeRefusal(of context: CarillonRequestContext) throws(Problem) {
        guard let address = context.clientAddress else { return }
        try take(from: .address(address.subscriber), rate: Self.unauthorizedPerSecond)
    }
}
