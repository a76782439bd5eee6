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
