package import CarillonCore
package import Hummingbird

/// Another system, answered as its own clients and servers expect it (FACES parts D to H).
///
/// A face translates: it has no SQL, no queue and no thread, and what it accepts is stored as Carillon's own.
package protocol Face: Sendable {
    var name: FaceName { get }
    /// Its paths: each of these, and all below them.
    var roots: [String] { get }
    var isForBrowsers: Bool { get }
    /// What a caller is told of an error: `problem` says the same in Carillon's own terms.
    func answer(to error: any Error, _ problem: Problem, _ request: Request) -> Response
    func addRoutes(to routes: FaceRoutes)

    /// Reads what an admin says of one of its names; what is wrong is noted, and unknown members are the caller's to find.
    ///
    /// - Returns: The settings as they are to be stored and shown; `nil` after noting what is wrong.
    func settings(of name: String, from reader: inout JSONObjectReader) -> FaceSettings?
    /// Why a network may not have such settings, such as it is now; `nil` when it may.
    func conflict(of settings: FaceSettings, in network: Network) -> Problem?
    /// Reads what an admin says of a new key, and makes it.
    ///
    /// - Returns: The key; `nil` after noting what is wrong.
    func makeKey(_ request: FaceKeyRequest, from reader: inout JSONObjectReader) -> NewFaceKey?
}

extension Face {
    package func owns(_ path: String) -> Bool {
        // Asked with every request, so no text is made for it.
        roots.contains { root in
            guard path.utf8.starts(with: root.utf8) else { return false }
            let next = path.utf8.dropFirst(root.utf8.count).first
            return next == nil || next == UInt8(ascii: "/")
        }
    }

    package var isForBrowsers: Bool { false }

    package func conflict(of settings: FaceSettings, in network: Network) -> Problem? { nil }
}

/// What an admin said of a binding.
package struct FaceSettings: Sendable, Equatable {
    /// What is stored and shown.
    package var document: JSONObject
    /// Whether only callers who prove that they are the network's can use the name, so that its admin may bind it without the
    /// operator, whoever else has bound it.
    package var isPrivate: Bool

    package init(_ document: JSONObject, isPrivate: Bool = false) {
        self.document = document
        self.isPrivate = isPrivate
    }
}

/// What an admin said of a new key, apart from its rights.
package struct FaceKeyRequest: Sendable {
    package var networkID: NetworkID
    /// What the network is called in that system.
    package var boundNames: [String] = []
    /// What it is to be called; `nil` for the face to choose.
    package var name: String?
    /// The secret that existing clients hold; `nil` for a new one.
    package var secret: String?
    package var label: String?
    package var now: Timestamp
}

/// A key that was made, with what its holder is shown once.
package struct NewFaceKey: Sendable {
    package var stored: StoredFaceKey
    /// What is shown beside the key's name, once: `secret`, or whatever the system calls it.
    package var shown: JSONObject

    package init(stored: StoredFaceKey, shown: JSONObject) {
        self.stored = stored
        self.shown = shown
    }

    /// A key that its holder sends along: only its hash is kept.
    package init(
        sent secret: String,
        name: String,
        face: FaceName,
        rights: JSONValue,
        for request: FaceKeyRequest
    ) {
        let key = FaceKey(
            face: face,
            networkID: request.networkID,
            name: name,
            rights: rights,
            label: request.label,
            createdAt: request.now
        )
        stored = StoredFaceKey(key: key, proof: .hash(SecretHash(of: secret)))
        shown = ["secret": .string(secret)]
    }
}

/// What a face's own callers are told in words of its own: counted, written down and answered like the problem that it is.
package protocol FaceError: Error {
    /// The same in Carillon's own terms.
    var problem: Problem { get }
}
