package import CarillonCore

/// The problems of names and keys in other systems.
extension Problem {
    /// Why a binding, a key or a nonce is not stored.
    package init(_ refusal: FaceRefusal) {
        self =
            switch refusal {
            case .nameTaken: .conflict("name-taken", "it belongs to another network, or to another key")
            case .notOwned: .forbidden("a name that is new to the network is bound with the operator's token")
            case .tooMany:
                .conflict(
                    "limit-reached",
                    """
                    a network has at most \(FaceBinding.maximumCount) names and \(FaceKey.maximumCount) keys in each system: \
                    remove one first
                    """
                )
            case .tooManyNonces: .tooManyRequests(retryAfter: .seconds(60))
            }
    }
}
