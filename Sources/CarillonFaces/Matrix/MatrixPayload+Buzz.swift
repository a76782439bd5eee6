import CarillonCore

/// What Buzz's apps get through a homeserver (FACES part G).
extension MatrixPayload {
    /// The keys beside what is built in.
    func buzz(for provider: ProviderName) -> RawPart {
        var part = RawPart()
        part.add(buzzKeys(for: provider), for: provider)
        return part
    }

    /// Who wrote where and what, as far as it is known.
    func buzzKeys(for provider: ProviderName) -> JSONObject {
        let type = notification.isInvitation ? 1 : 0
        return [
            "notificationType": provider == .fcm ? .string("\(type)") : JSONValue(type),
            "roomId": notification.roomID.map(JSONValue.string),
            "userName": notification.from.map(JSONValue.string), "content": content,
        ]
    }

    /// The words: where they are what is shown, they are cut with it.
    private var content: JSONValue? {
        guard let body = notification.body else { return nil }
        guard notification.type == "m.room.message", notification.messageType != "m.image" else {
            return .string(body.shortened(toCharacters: .max, bytes: Self.longestText))
        }
        return Self.body
    }
}

extension RawPart {
    /// Puts keys where apps look for them: at the root for APNs, under `data` for the others.
    mutating func add(_ keys: JSONObject, for provider: ProviderName) {
        let patch: JSONValue = provider == .apns ? .object(keys) : ["data": .object(keys)]
        guard case .object(let merged) = JSONValue.object(payload).merging(patch: patch) else { return }
        payload = merged
    }
}
