extension NetworkLimits {
    private static let counts = 0...100_000
    /// Of what there may be one for each phone.
    private static let largeCounts = 0...100_000_000
    private static let rates = 1...1_000_000

    /// All limits, as the API shows them.
    package var json: JSONValue { .object(members) }

    /// What differs from the defaults, which may change with a release; `nil` when nothing does.
    package var changes: JSONValue? {
        let defaults = Self().members
        var changes = JSONObject()
        for (key, value) in members.members where defaults[key] != value { changes[key] = value }
        return changes.isEmpty ? nil : .object(changes)
    }

    /// Takes over what a merge patch names (RFC 7396): `null` stands for the default.
    package mutating func merge(_ reader: inout JSONObjectReader) {
        let defaults = Self()
        func merge(_ key: String, _ value: inout Int, _ fallback: Int, in range: ClosedRange<Int>) {
            guard reader.contains(key) else { return }
            value = reader.integer(key, in: range) ?? fallback
        }
        merge("devicesPerUser", &devicesPerUser, defaults.devicesPerUser, in: Self.counts)
        merge("channelsPerUser", &channelsPerUser, defaults.channelsPerUser, in: Self.counts)
        merge("templates", &templates, defaults.templates, in: Self.counts)
        merge("webhookHosts", &webhookHosts, defaults.webhookHosts, in: Self.counts)
        merge("tags", &tags, defaults.tags, in: Self.counts)
        merge("tagsPerSubscriber", &tagsPerSubscriber, defaults.tagsPerSubscriber, in: Self.counts)
        merge("ownerlessDevices", &ownerlessDevices, defaults.ownerlessDevices, in: Self.largeCounts)
        if reader.contains("eventsPerSecond") {
            eventsPerSecond = reader.integer("eventsPerSecond", in: Self.rates)
        }
        guard reader.contains("requestsPerSecond") else { return }
        guard var rates = reader.object("requestsPerSecond") else {
            requestsPerSecond = defaults.requestsPerSecond
            return
        }
        requestsPerSecond.merge(&rates, in: Self.rates)
        rates.finish()
    }

    private var members: JSONObject {
        var rates = JSONObject()
        rates["user"] = .number(JSONNumber(requestsPerSecond.user))
        rates["app"] = .number(JSONNumber(requestsPerSecond.app))
        var members = JSONObject()
        members["devicesPerUser"] = .number(JSONNumber(devicesPerUser))
        members["channelsPerUser"] = .number(JSONNumber(channelsPerUser))
        members["templates"] = .number(JSONNumber(templates))
        members["webhookHosts"] = .number(JSONNumber(webhookHosts))
        members["tags"] = .number(JSONNumber(tags))
        members["tagsPerSubscriber"] = .number(JSONNumber(tagsPerSubscriber))
        members["ownerlessDevices"] = .number(JSONNumber(ownerlessDevices))
        members["eventsPerSecond"] = eventsPerSecond.map { .number(JSONNumber($0)) } ?? .null
        members["requestsPerSecond"] = .object(rates)
        return members
    }
}

extension NetworkLimits.RequestRates {
    fileprivate mutating func merge(_ reader: inout JSONObjectReader, in range: ClosedRange<Int>) {
        let defaults = Self()
        if reader.contains("user") { user = reader.integer("user", in: range) ?? defaults.user }
        if reader.contains("app") { app = reader.integer("app", in: range) ?? defaults.app }
    }
}
