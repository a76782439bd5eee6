extension PushContent {
    /// The fields of the contract (FACES B1), only those that say something.
    package var json: JSONObject {
        var json = JSONObject()
        if kind != .alert { json["kind"] = .string(kind.rawValue) }
        if !data.isEmpty { json["data"] = .object(data) }
        json["badge"] = badge.map { JSONValue($0) }
        switch sound {
        case .standard: break
        case .none: json["sound"] = .null
        case .named(let name): json["sound"] = .string(name)
        }
        json["category"] = category.map(JSONValue.string)
        json["threadId"] = threadID.map(JSONValue.string)
        json["collapseKey"] = collapseKey.map(JSONValue.string)
        json["imageUrl"] = imageURL.map(JSONValue.string)
        json["priority"] = priority.map { .string($0.rawValue) }
        if timeToLive != Self.usualTimeToLive { json["ttlSeconds"] = JSONValue(timeToLive) }
        if !isRetried { json["retry"] = false }
        if !hasEnvelope { json["envelope"] = false }
        for (provider, part) in parts.sorted(by: { $0.key < $1.key }) {
            json[provider.rawValue] = .object(part.json(payloadKey: provider.kind.rawPart.payloadKey))
        }
        return json
    }
}

extension RawPart {
    fileprivate func json(payloadKey: String) -> JSONObject {
        let sorted = JSONObject(headers.sorted { $0.key < $1.key }.map { ($0.key, .string($0.value)) })
        return [
            "kind": kind.map { .string($0.rawValue) },
            "headers": headers.isEmpty ? nil : .object(sorted),
            payloadKey: payload.isEmpty && !replaces ? nil : .object(payload),
            "replace": replaces ? true : nil,
        ]
    }
}
