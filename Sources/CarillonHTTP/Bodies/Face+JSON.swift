import CarillonCore
import CarillonEdge

extension FaceBinding {
    /// The binding as the API shows it: what the face keeps of it, between its name and when it was written.
    var json: JSONValue {
        let names: JSONObject = ["face": .string(face.rawValue), "externalId": .string(externalID)]
        return .object(JSONObject(joining: names, settings, ["updatedAt": JSONValue(updatedAt)]))
    }
}

extension FaceKey {
    /// The key as it is listed: without its secret.
    var json: JSONObject {
        [
            "name": .string(name), "rights": rights, "label": JSONValue(label), "createdAt": JSONValue(createdAt),
        ]
    }
}

extension NewFaceKey {
    /// The key with what is shown once.
    var json: JSONValue {
        .object(JSONObject(joining: stored.key.json, shown))
    }
}

extension JournalEntry {
    var json: JSONValue {
        [
            "at": JSONValue(at), "operation": .string(note.operation), "status": JSONValue(note.status),
            "reason": JSONValue(note.reason),
            "eventId": JSONValue(note.eventIDs.first?.description),
        ]
    }
}

extension Face {
    private static var bindingProblem: String { "invalid-binding" }
    private static var keyProblem: String { "invalid-face-key" }

    func settings(of name: String, json: JSONValue) throws(InvalidInput) -> FaceSettings {
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
    func key(
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
