/// What all networks are called by other systems' clients, for those who ask with every request.
package protocol FaceListSource: Sendable {
    /// All bindings and keys of all networks; `nil` when they are still of that version.
    func faceList(unless version: Int64?) async throws -> FaceList?
}

/// What networks are called by other systems' clients, and the secrets that those clients hold.
package protocol FaceStore: Sendable {
    /// Stores a binding in the place of the network's own of this name.
    ///
    /// - Parameters:
    ///   - binding: The binding.
    ///   - claiming: Whether the network may get a name that it does not have yet, and that anybody can name.
    /// - Returns: Whether it is new.
    /// - Throws: ``FaceRefusal``, whatever is stored at the same time: ``FaceRefusal/notOwned`` for such a name without `claiming`;
    ///   ``FaceRefusal/nameTaken`` when another network has it, unless one of the two is private; ``FaceRefusal/tooMany`` beyond
    ///   ``FaceBinding/maximumCount`` of the face.
    func putFaceBinding(_ binding: FaceBinding, claiming: Bool) async throws -> Bool
    /// Removes a network's binding; `false` when there is none.
    func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool
    /// A network's bindings by face and name.
    func faceBindings(of network: NetworkID) async throws -> [FaceBinding]

    /// Adds a key, once as `answering` says.
    ///
    /// - Throws: ``FaceRefusal``: ``FaceRefusal/nameTaken`` when the network has a key of this name for this face, when any network
    ///   has one with the same hash, or, of a key with a sealed secret, one of the same name; ``FaceRefusal/tooMany`` beyond
    ///   ``FaceKey/maximumCount`` of the face; and ``IdempotentRequest/Failure``. Nothing is stored then.
    func addFaceKey(_ key: StoredFaceKey, answering: IdempotentRequest?) async throws -> Creation
    /// Removes a key; `nil` when there is none.
    func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> RemovedFaceKey?
    /// A network's keys for a face by name.
    func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey]
}

/// What faces remember of what was asked of them.
package protocol FaceMemory: Sendable {
    /// Marks something as used that may be used once, until a moment.
    ///
    /// - Parameters:
    ///   - hash: What is used: the 32 bytes of a cryptographic hash, as they are spread evenly.
    ///   - end: From when on it does not matter whether it was used.
    ///   - network: Whose it is.
    /// - Returns: `false` when it was used before.
    /// - Throws: ``FaceRefusal/tooManyNonces`` when the network has about as many in use as it may have, so that this one could not
    ///   be remembered: whoever asks has to come again later.
    func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool

    /// Keeps what messages said, to be told again for ``FaceTexts/retention``; of a network's about the
    /// latest ``FaceTexts/maximumCount``.
    func keepTexts(_ texts: [EventID: String], of network: NetworkID) async throws
    /// What a message said; `nil` when nothing is kept of it, or not any more.
    func text(of event: EventID, in network: NetworkID) async throws -> String?
}

/// What messages said, where other systems tell it again.
package enum FaceTexts {
    package static let retention = Duration.seconds(7 * 86_400)
    /// Of how many of a network's messages, the latest.
    package static let maximumCount = 10_000
    /// The most bytes that are kept of one.
    package static let maximumBytes = 4_096
}

/// How many nonces a network may have in use.
package enum FaceNonces {
    /// The most whose hashes begin with the same byte. As hashes are spread evenly, a network has more than 100,000 in all before
    /// the first one is refused, and whoever counts looks at no more than these.
    package static let maximumPerByte = 512
}

/// Why something was not stored.
package enum FaceRefusal: Error, Sendable, Equatable {
    /// Another network has it, or the network itself where it must be new.
    case nameTaken
    /// A name that anybody can name is new to the network, and only the operator gives those out.
    case notOwned
    /// The network has as many of the face as it may.
    case tooMany
    case tooManyNonces
}

/// All bindings and keys, as of one moment.
package struct FaceList: Sendable {
    /// Grows with every change of the tables.
    package var version: Int64
    package var bindings: [FaceBinding]
    /// The keys whose secrets could be read.
    package var keys: [StoredFaceKey]

    package static let empty = FaceList(version: 0, bindings: [], keys: [])

    package init(version: Int64, bindings: [FaceBinding], keys: [StoredFaceKey]) {
        self.version = version
        self.bindings = bindings
        self.keys = keys
    }
}
