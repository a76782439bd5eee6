import CarillonCore
import CarillonEdge

extension NewFaceKey {
    /// A key that its holder sends along: only its hash is kept.
    init(sent secret: String, name: String, face: FaceName, rights: JSONValue, for request: FaceKeyRequest) {
        self.init(
            stored: StoredFaceKey(
                key: FaceKey(
                    face: face,
                    networkID: request.networkID,
                    name: name,
                    rights: rights,
                    label: request.label,
                    createdAt: request.now
                ),
                proof: .hash(FaceIndex.hash(of: secret))
            ),
            shown: ["secret": .string(secret)]
        )
    }
}
