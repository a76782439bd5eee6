package import CarillonCore

extension Face {
    private static var bindingProblem: String { "invalid-binding" }
    private static var keyProblem: String { "invalid-face-key" }

    /// Reads what an admin says of one of its names.
    package func settings(of name: String, json: JSONValue) throws(InvalidInput) -> FaceSettings {
        let read = try json.read(as: Self.bindingProblem) { settings(of: name, from: &$0) }
        guard read.document.serialized.count <= FaceBinding.maximumSettingsBytes else {
            throw InvalidInput(
                problem: Self.bindingProblem,
                pointer: "",
                detail: "must be at most \(FaceBinding.maximumSettingsBytes) bytes of compact JSON"
            )
        }
        return read
    }

    /// Reads `{"name"?,"secret"?,"rights","label"?}`, and makes the key of a network that is called `names` in that system.
    /// - Throws: What is wrong with the body; 403 for a secret from those who must not say what it is.
    package func key(
        json: JSONValue,
        for network: NetworkID,
        boundAs names: [String],
        mayTakeOver: Bool,
        now: Timestamp
    ) throws -> NewFaceKey {
        var isTakenOver = false
        let key = try json.read(as: Self.keyProblem) { reader -> NewFaceKey? in
            let name = reader.string("name", maximumBytes: Identifier<FaceKey>.maximumBytes, nonEmpty: true)
            if let name, Identifier<FaceKey>(name) == nil {
                reader.refuse("name", "must not be . or .., nor have control characters")
            }
            let secret = reader.string("secret", nonEmpty: true)
            isTakenOver = secret != nil
            let label = reader.label()
            let request = FaceKeyRequest(
                networkID: network,
                boundNames: names,
                name: name,
                secret: secret,
                label: label,
                now: now
            )
            return makeKey(request, from: &reader)
        }
        guard !isTakenOver || mayTakeOver else {
            throw Problem.forbidden("the operator's token is needed to take a secret over", at: "/secret")
        }
        guard key.stored.key.rights.serialized.count <= FaceKey.maximumRightsBytes else {
            throw InvalidInput(
                problem: Self.keyProblem,
                pointer: "/rights",
                detail: "must be at most \(FaceKey.maximumRightsBytes) bytes of compact JSON"
            )
        }
        return key
    }
}

extension JSONObjectReader {
    /// A label for people: at most 256 bytes.
    package mutating func label() -> String? { string("label", maximumBytes: 256) }
}
