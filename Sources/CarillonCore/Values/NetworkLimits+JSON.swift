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
        for count in Count.allCases where reader.contains(count.rawValue) {
            let range = count == .ownerlessDevices ? Self.largeCounts : Self.counts
            self[count] = reader.integer(count.rawValue, in: range) ?? defaults[count]
        }
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
        let rates: JSONObject = [
            "eventsPerSecond": JSONValue(eventsPerSecond),
            "requestsPerSecond": ["user": JSONValue(requestsPerSecond.user), "app": JSONValue(requestsPerSecond.app)],
        ]
        return JSONObject(joining: JSONObject(Count.allCases.map { ($0.rawValue, JSONValue(self[$0])) }), rates)
    }
}

extension NetworkLimits.RequestRates {
    fileprivate mutating func merge(_ reader: inout JSONObjectReader, in range: ClosedRange<Int>) {
        let defaults = Self()
        if reader.contains("user") { user = reader.integer("user", in: range) ?? defaults.user }
        if reader.contains("app") { app = reader.integer("app", in: range) ?? defaults.app }
    }
}
