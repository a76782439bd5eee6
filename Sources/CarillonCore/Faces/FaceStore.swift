/// What networks are called by other systems' clients, and the secrets that those clients hold.
package protocol FaceStore: Sendable {
    /// Stores a binding in the place of the network's own of this name; `true` when it is new.
    ///
    /// - Throws: ``FaceRefusal``: ``FaceRefusal/nameTaken`` when another network has the name, unless both are private;
    ///   ``FaceRefusal/tooMany`` beyond ``FaceBinding/maximumCount``.
    func putFaceBinding(_ binding: FaceBinding) async throws -> Bool
    /// Removes a network's binding; `false` when there is none.
    func deleteFaceBinding(_ face: FaceName, externalID: String, of network: NetworkID) async throws -> Bool
    /// A network's bindings by face and name.
    func faceBindings(of network: NetworkID) async throws -> [FaceBinding]

    /// Adds a key.
    ///
    /// - Throws: ``FaceRefusal``: ``FaceRefusal/nameTaken`` when the network has a key of this name for this face, or when another
    ///   network has one with the same hash, or, of a key with a sealed secret, one of the same name; ``FaceRefusal/tooMany`` beyond
    ///   ``FaceKey/maximumCount``.
    func addFaceKey(_ key: StoredFaceKey) async throws
    /// Removes a key; `false` when there is none.
    func deleteFaceKey(_ face: FaceName, name: String, of network: NetworkID) async throws -> Bool
    /// A network's keys for a face by name.
    func faceKeys(_ face: FaceName, of network: NetworkID) async throws -> [FaceKey]

    /// All bindings and keys of all networks, for those who ask with every request; `nil` when they are still of that version.
    func faceList(unless version: FaceList.Version?) async throws -> FaceList?

    /// Marks something as used that may be used once, until a moment; `false` when it was used before.
    func useNonce(_ hash: [UInt8], until end: Timestamp, of network: NetworkID) async throws -> Bool
}

/// Why a binding or a key was not stored.
package enum FaceRefusal: Error, Sendable, Equatable {
    /// Another network has it, or the network itself where it must be new.
    case nameTaken
    /// The network has as many as it may.
    case tooMany
}

/// All bindings and keys, as of one moment.
package struct FaceList: Sendable {
    /// Tells one state of the tables from another.
    package struct Version: Sendable, Equatable {
        /// Grows with every change.
        package var changes: Int64

        /// A version.
        package init(changes: Int64) {
            self.changes = changes
        }
    }

    /// Which state it is.
    package var version: Version
    /// The bindings.
    package var bindings: [FaceBinding]
    /// The keys whose secrets could be read.
    package var keys: [StoredFaceKey]

    /// A list by its parts.
    package init(version: Version, bindings: [FaceBinding], keys: [StoredFaceKey]) {
        self.version = version
        self.bindings = bindings
        self.keys = keys
    }
}
