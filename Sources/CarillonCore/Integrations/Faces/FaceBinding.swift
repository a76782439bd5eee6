/// Another system whose clients and servers are answered as if Carillon were it (FACES parts D to H). The raw values are in the API,
/// in metrics and in the database.
package enum FaceName: String, Sendable, CaseIterable, Hashable {
    /// Ably's REST interface for push.
    case ably
    /// Amity's, formerly Upstra's, devices and settings.
    case amity
    /// Buzz's registration of tokens.
    case buzz
    /// MobileFirst's push service, as its paths call it.
    case imfpush
    /// Matrix's Push Gateway API.
    case matrix
}

/// A name of another system that belongs to a network here: an app id, an application.
package struct FaceBinding: Sendable, Equatable {
    /// The most that a network may have of one face.
    package static let maximumCount = 200
    /// The most wildcards of a name that is a pattern: strangers' names are compared with it.
    package static let maximumWildcards = 4
    /// The most bytes of its settings as compact JSON: every replica holds those of all networks.
    package static let maximumSettingsBytes = 8192

    package var face: FaceName
    /// The name, 1 to 256 bytes; may hold `*` and `?` where the face takes patterns.
    package var externalID: String
    package var networkID: NetworkID
    /// Whether only this network's callers can name it, so that others may have the same one: Matrix app ids under a gateway key.
    package var isPrivate: Bool
    /// What the face needs to know, in the form that the face checked.
    package var settings: JSONObject
    package var updatedAt: Timestamp

    package init(
        face: FaceName,
        externalID: String,
        networkID: NetworkID,
        isPrivate: Bool = false,
        settings: JSONObject,
        updatedAt: Timestamp
    ) {
        self.face = face
        self.externalID = externalID
        self.networkID = networkID
        self.isPrivate = isPrivate
        self.settings = settings
        self.updatedAt = updatedAt
    }

    /// How many characters of a name stand for others.
    package static func wildcardCount(of name: String) -> Int {
        name.unicodeScalars.count - NamePattern.weight(of: name)
    }

    /// How closely it fits a name that it stands for: the name itself most of all, of patterns the one with the most other characters.
    package func closeness(to name: String) -> Int {
        externalID.utf8.elementsEqual(name.utf8) ? .max : NamePattern.weight(of: externalID)
    }
}

/// A secret that a face's callers hold, as it can be listed: without the secret.
package struct FaceKey: Sendable, Equatable {
    /// The most that a network may have of one face.
    package static let maximumCount = 200
    /// The most bytes of its rights as compact JSON: every replica holds those of all networks.
    package static let maximumRightsBytes = 4096

    package var face: FaceName
    package var networkID: NetworkID
    /// What it is listed and revoked by, 1 to 256 bytes.
    package var name: String
    /// What its holder may do, in the form that the face checked.
    package var rights: JSONValue
    package var label: String?
    package var createdAt: Timestamp

    package init(
        face: FaceName,
        networkID: NetworkID,
        name: String,
        rights: JSONValue,
        label: String? = nil,
        createdAt: Timestamp
    ) {
        self.face = face
        self.networkID = networkID
        self.name = name
        self.rights = rights
        self.label = label
        self.createdAt = createdAt
    }
}

/// What is kept of a face's key.
package struct StoredFaceKey: Sendable, Equatable {
    /// What is kept of the secret.
    package enum Proof: Sendable, Equatable {
        /// Enough to recognise who holds it.
        case hash(SecretHash)
        /// The secret itself, sealed at rest: it verifies what was signed with it. Found by the key's name.
        case secret(Secret)
    }

    package var key: FaceKey
    package var proof: Proof

    package init(key: FaceKey, proof: Proof) {
        self.key = key
        self.proof = proof
    }
}

/// What is left to say of a key that was removed.
package struct RemovedFaceKey: Sendable, Equatable {
    /// SHA-256 of its secret; `nil` of one that was found by its name.
    package var hash: [UInt8]?

    package init(hash: [UInt8]?) {
        self.hash = hash
    }
}
