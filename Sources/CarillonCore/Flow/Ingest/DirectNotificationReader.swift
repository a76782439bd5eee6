/// Reads what a direct notification says (FACES section B1): whom it is for, what is shown, and what goes beyond that.
struct DirectNotificationReader {
    /// The most users, and the most devices, that one names.
    static let maximumIDs = 1_000
    static let maximumAddresses = 100
    static let maximumTags = 20
    private static let maximumApps = 100
    private static let maximumLocales = 200
    private static let audiences = ["userIds", "deviceIds", "channelId", "tags", "everyone", "addresses"]
    private static let shown = ["title", "body", "texts", "badge", "sound", "category"]

    let addresses: DeviceAddressReader
    let errors: InputErrors
    /// Whether what is read was accepted before.
    var isStored = false

    /// Takes in what `data` says; what is wrong is noted. Unknown members are left to the caller to find.
    func fill(_ event: inout Event, from data: inout JSONObjectReader) {
        let audience = audience(in: &data)
        let filter = filter(in: &data)
        let errorsBefore = errors.errors.count
        let texts = texts(in: &data)
        let isRead = errors.errors.count == errorsBefore
        let module = data.choice("module", as: Module.self) ?? .direct
        let content = data.pushContent(isStored: isStored)
        if content.kind == .silent {
            for key in Self.shown where data.contains(key) && !data.isNull(key) {
                data.refuse(key, "must be left out: nothing is shown of what is silent")
            }
        } else if isRead, !isStored, texts.isEmpty, !content.isShownWithoutWords {
            data.refuse("title", "is required where there is no body, and no raw part that shows something")
        }
        event.channel = data.identifier("channelId", as: Channel.self).map { Channel(id: $0) }
        event.actor = data.userID("actorId").map { Person(id: $0) }
        guard let audience else { return }
        if event.channel == nil, case .members(let channel) = audience { event.channel = Channel(id: channel) }
        if case .people(let users) = audience { event.mentions = Set(users) }
        event.direct = DirectNotification(
            to: audience,
            filter: filter,
            texts: texts,
            module: module,
            content: content
        )
    }

    private func audience(in data: inout JSONObjectReader) -> Audience? {
        guard var to = data.object("to", required: true) else { return nil }
        defer { to.finish() }
        for key in Self.audiences where to.isNull(key) { _ = to.value(key) }
        let given = Self.audiences.filter { to.contains($0) && !to.isNull($0) }
        guard given.count == 1, let key = given.first else {
            for key in to.keys { _ = to.value(key) }
            data.refuse("to", "must have exactly one of \(Self.audiences.joined(separator: ", "))")
            return nil
        }
        switch key {
        case "userIds":
            let users = to.userIDs(key, maximumCount: Self.maximumIDs)
            return isSome(users, key, of: to) ? users.map { .people($0.unique) } : nil
        case "deviceIds":
            let devices = to.identifiers(key, as: Device.self, maximumCount: Self.maximumIDs)
            return isSome(devices, key, of: to) ? devices.map { .devices($0.unique) } : nil
        case "tags":
            let tags = to.identifiers(key, as: Tag.self, maximumCount: Self.maximumTags)
            return isSome(tags, key, of: to) ? tags.map { .tags($0.unique) } : nil
        case "channelId":
            return to.identifier(key, as: Channel.self).map { .members(of: $0) }
        case "addresses":
            return devices(in: &to)
        default:
            guard to.bool(key) == false else { return .everyone }
            to.refuse(key, "must be true")
            return nil
        }
    }

    /// Whether a list of those who are meant names anybody: an empty one is a mistake of whoever made it.
    private func isSome(_ list: [some Any]?, _ key: String, of to: JSONObjectReader) -> Bool {
        guard let list, list.isEmpty else { return true }
        to.refuse(key, "must not be empty")
        return false
    }

    private func devices(in to: inout JSONObjectReader) -> Audience? {
        let key = "addresses"
        guard let elements = to.array(key, maximumCount: Self.maximumAddresses), isSome(elements, key, of: to) else {
            return nil
        }
        var devices: [AddressedDevice] = []
        for (index, element) in elements.enumerated() {
            var reader = to.reader(of: element, in: key, at: index)
            let locale = reader.locale()
            // Belongs to a device, and says nothing of one that is named.
            _ = reader.bool("broadcasts")
            let address = addresses.address(from: &reader)
            // Faces know it of what they accept; nobody else is asked.
            let obtainedAt = isStored ? reader.timestamp("obtainedAt") : nil
            reader.finish()
            if let address {
                devices.append(AddressedDevice(address: address, locale: locale, obtainedAt: obtainedAt))
            }
        }
        return devices.count == elements.count ? .addresses(devices.unique) : nil
    }

    private func filter(in data: inout JSONObjectReader) -> DeviceFilter {
        guard var reader = data.object("filter") else { return DeviceFilter() }
        var filter = DeviceFilter()
        let known = ProviderName.allCases.map(\.rawValue)
        if let names = reader.strings("providers", maximumCount: known.count) {
            filter.providers = Set(ProviderName.allCases.filter { names.contains($0.rawValue) })
            for (index, name) in names.enumerated() where !known.contains(name) {
                reader.refuse("providers", at: index, "must be one of \(known.joined(separator: ", "))")
            }
        }
        filter.appIDs = reader.strings("appIds", maximumCount: Self.maximumApps).map { Set($0) }
        filter.tag = reader.identifier("tag", as: Tag.self)
        if reader.contains("providers"), filter.providers?.isEmpty == true, errors.isEmpty {
            reader.refuse("providers", "must not be empty")
        }
        if filter.appIDs?.isEmpty == true { reader.refuse("appIds", "must not be empty") }
        reader.finish()
        return filter
    }

    private func texts(in data: inout JSONObjectReader) -> DirectTexts {
        var texts = DirectTexts(text(in: &data))
        guard var languages = data.object("texts", unknown: .tolerate) else { return texts }
        let keys = languages.keys
        guard keys.count <= Self.maximumLocales else {
            data.refuse("texts", "must have at most \(Self.maximumLocales) languages")
            return texts
        }
        for key in keys {
            guard let locale = LocaleTag(key) else {
                languages.refuse(key, "must be a language tag of BCP 47, such as th or pt-BR")
                continue
            }
            guard var reader = languages.object(key, required: true, unknown: data.unknown) else { continue }
            let text = text(in: &reader)
            reader.finish()
            if text.isEmpty { languages.refuse(key, "must have a title or a body") }
            if texts.byLocale.updateValue(text, forKey: locale) != nil { languages.refuse(key, "is given twice") }
        }
        return texts
    }

    private func text(in reader: inout JSONObjectReader) -> DirectTexts.Text {
        DirectTexts.Text(title: words(.title, in: &reader), body: words(.body, in: &reader))
    }

    /// Words of which nothing would be seen are as good as none. Those that were accepted before stay what they are.
    private func words(_ part: TemplatePart, in reader: inout JSONObjectReader) -> String? {
        guard let words = reader.string(part.rawValue, maximumBytes: .max), !words.isEmpty else { return nil }
        return isStored || part.shows(words) ? words : nil
    }
}

extension Array where Element: Hashable {
    /// Each once, at its first place.
    fileprivate var unique: [Element] {
        var seen = Set<Element>(minimumCapacity: count)
        return filter { seen.insert($0).inserted }
    }
}
