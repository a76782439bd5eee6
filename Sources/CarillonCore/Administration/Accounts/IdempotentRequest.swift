/// A request that creates, as it is recognised when its caller sends it again because the answer was lost (API section 1).
package struct IdempotentRequest: Sendable, Equatable {
    package static let lifetime = Duration.seconds(86_400)
    package static let maximumPerNetwork = 1_000

    /// The network of the path; `nil` where networks are made.
    package var networkID: NetworkID?
    /// The hash of the key, the caller and the path.
    package var keyHash: [UInt8]
    package var bodyHash: [UInt8]
    /// What is answered if it is carried out; may hold secrets.
    package var answer: [UInt8]

    package init(networkID: NetworkID?, keyHash: [UInt8], bodyHash: [UInt8], answer: [UInt8]) {
        self.networkID = networkID
        self.keyHash = keyHash
        self.bodyHash = bodyHash
        self.answer = answer
    }

    package enum Failure: Error, Sendable, Equatable {
        /// The key was used with another body.
        case differentBody
        /// As many are remembered as there may be.
        case tooMany
    }
}

/// What became of a request that creates.
package enum Creation: Sendable, Equatable {
    /// It was carried out.
    case created
    /// It had been carried out before, and was answered with this.
    case repeated(answer: [UInt8])
    /// What it asks for is taken, or there are too many; nothing was changed.
    case refused
    /// Something is left of a former network of that id; nothing was changed.
    case beingDeleted
}
