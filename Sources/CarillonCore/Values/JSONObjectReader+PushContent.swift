extension JSONObjectReader {
    private static let longestHeader = 256
    private static let longestName = 64
    private static let longestCollapseKey = 256
    private static let longestURL = 2_048
    private static let largestBytes = 3_072

    /// The members that make up a push beyond its text (FACES B1); what is wrong is noted.
    ///
    /// - Parameter isStored: Whether it was accepted before, so that no limit is asked any more: other systems have limits of
    ///   their own, and what is too large for a push service is to be reported by it.
    /// - Returns: The content.
    package mutating func pushContent(isStored: Bool = false) -> PushContent {
        var content = PushContent()
        content.kind = choice("kind", as: PushContent.Kind.self) ?? .alert
        content.data = data(isStored: isStored)
        content.badge = integer("badge", in: 0...PushContent.largestBadge)
        content.sound = isNull("sound") ? .none : .standard
        if let name = string("sound", maximumBytes: PushContent.longestSound, nonEmpty: true), name != "default" {
            content.sound = .named(name)
        }
        content.category = string("category", maximumBytes: Self.longestName, nonEmpty: true)
        content.threadID = string("threadId", maximumBytes: Self.longestName, nonEmpty: true)
        content.collapseKey = string("collapseKey", maximumBytes: Self.longestCollapseKey, nonEmpty: true)
        content.imageURL = imageURL(isStored: isStored)
        content.priority = choice("priority", as: PushContent.Priority.self)
        content.timeToLive =
            integer("ttlSeconds", in: 0...PushContent.longestTimeToLive) ?? PushContent.usualTimeToLive
        content.isRetried = bool("retry") ?? true
        content.hasEnvelope = bool("envelope") ?? true
        for provider in ProviderName.allCases where provider.kind.isPushService {
            guard let part = rawPart(of: provider, isStored: isStored) else { continue }
            content.parts[provider] = part
            if !isStored { refuseTooLarge(part, of: provider, with: content.data) }
        }
        return content
    }

    private mutating func imageURL(isStored: Bool) -> String? {
        let key = "imageUrl"
        guard let url = string(key, maximumBytes: Self.longestURL, nonEmpty: true) else { return nil }
        guard !isStored else { return url }
        do throws(EgressRefusal) {
            _ = try OutboundURL(url)
            return url
        } catch {
            refuse(key, "must be an absolute URL: it \(error.detail)")
            return nil
        }
    }

    private mutating func data(isStored: Bool) -> JSONObject {
        guard let value = value("data") else { return JSONObject() }
        guard case .object(let data) = value else {
            refuse("data", "must be an object")
            return JSONObject()
        }
        guard !isStored else { return data }
        for key in data.keys where Self.isReserved(key) {
            errors.add(pointer: pointer(to: "data") + JSONPointer.step(key), detail: "is kept by Apple or Google")
        }
        let size = data.serialized.count
        if size > Self.largestBytes { refuse("data", "takes \(size) of at most \(Self.largestBytes) bytes") }
        return data
    }

    /// What APNs or FCM take for their own.
    private static func isReserved(_ key: String) -> Bool {
        ["aps", "from", "message_type"].contains(key) || key.hasPrefix("gcm") || key.hasPrefix("google")
    }

    private mutating func rawPart(of provider: ProviderName, isStored: Bool) -> RawPart? {
        guard var reader = object(provider.rawValue) else { return nil }
        let form = provider.kind.rawPart
        var part = RawPart()
        part.kind = reader.choice("kind", as: PushContent.Kind.self)
        part.replaces = reader.bool("replace") ?? false
        if !form.headers.isEmpty { part.headers = reader.headers(in: form.headers, isStored: isStored) }
        if let value = reader.value(form.payloadKey) {
            if case .object(let payload) = value {
                part.payload = payload
                if !isStored { reader.checkTexts(value, at: reader.pointer(to: form.payloadKey)) }
            } else {
                reader.refuse(form.payloadKey, "must be an object")
            }
        } else if part.replaces {
            reader.refuse(form.payloadKey, "is required where it replaces what is built")
        }
        for key in form.reserved where part.payload.contains(key) {
            let place = reader.pointer(to: form.payloadKey) + JSONPointer.step(key)
            errors.add(pointer: place, detail: "is what Carillon sends to")
        }
        reader.finish()
        return part
    }

    private mutating func headers(in forms: [String: HeaderForm], isStored: Bool) -> [String: String] {
        guard let reader = object("headers", unknown: .tolerate) else { return [:] }
        var headers: [String: String] = [:]
        var values = reader
        for name in reader.keys {
            guard let form = forms[name.lowercased()] else {
                let known = forms.keys.sorted().joined(separator: ", ")
                values.refuse(name, "is none of the headers that can be set: \(known)")
                continue
            }
            guard let value = values.string(name, required: true, maximumBytes: Self.longestHeader) else { continue }
            guard isStored || form.admits(value) else {
                values.refuse(name, form.rule)
                continue
            }
            if headers.updateValue(value, forKey: name.lowercased()) != nil { values.refuse(name, "is given twice") }
        }
        return headers
    }

    /// `{"$text":…}` names the title or the body.
    private func checkTexts(_ value: JSONValue, at pointer: String) {
        switch value {
        case .array(let elements):
            for (index, element) in elements.enumerated() {
                checkTexts(element, at: pointer + JSONPointer.step(index))
            }
        case .object(let object):
            if object.contains("$text"), PushTextName(value) == nil {
                errors.add(pointer: pointer, detail: #"must be {"$text":"title"} or {"$text":"body"}"#)
            }
            for (key, member) in object.members { checkTexts(member, at: pointer + JSONPointer.step(key)) }
        case .null, .bool, .number, .string: break
        }
    }

    private func refuseTooLarge(_ part: RawPart, of provider: ProviderName, with data: JSONObject) {
        guard !part.payload.isEmpty else { return }
        let (ofData, ofPart) = (data.isEmpty ? 0 : data.serialized.count, part.payload.serialized.count)
        guard ofData + ofPart > Self.largestBytes else { return }
        refuse(provider.rawValue, "takes \(ofPart) bytes, with data of \(ofData) more than \(Self.largestBytes)")
    }
}

/// Which text an object `{"$text":"title"}` in a raw part stands for.
package enum PushTextName: String, Sendable {
    case title
    case body

    /// `nil` for anything but such an object.
    package init?(_ value: JSONValue) {
        guard case .object(let object) = value, object.count == 1, case .string(let name)? = object["$text"] else {
            return nil
        }
        self.init(rawValue: name)
    }
}
