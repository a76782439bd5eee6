extension StatisticsFigures {
    /// The figures as they are stored: an object of arrays, short since there is one for each minute. What was not counted yet
    /// when they were written is missing at the ends.
    package var stored: String {
        func object(_ members: [(String, [Int])]) -> JSONValue {
            let sorted = members.sorted { $0.0 < $1.0 }
            return .object(JSONObject(sorted.map { ($0, .array($1.map { JSONValue($0) })) }))
        }
        let figures: JSONValue = [
            "e": object(events.map { ($0.rawValue, [$1.accepted, $1.duplicate]) }),
            "r": object(
                recipients.map { subject, counts in
                    let levels = ToggleLevel.allCases.map { counts.suppressed[$0, default: 0] }
                    return (
                        "\(subject.module.rawValue) \(subject.type.rawValue)",
                        [counts.notified, counts.noDevice, counts.intercepted] + levels
                    )
                }
            ),
            "d": object(
                deliveries.map { provider, counts in
                    let ends = [counts.delivered, counts.unregistered, counts.expired, counts.dead]
                    return (provider.rawValue, ends + [counts.retries])
                }
            ),
            "l": .array(
                latency.counts.sorted { $0.key < $1.key }.map { [JSONValue($0.key), JSONValue($0.value)] }
            ),
            "p": object(posts.map { ($0, [$1.all, $1.refused]) }),
        ]
        return figures.serializedText
    }

    /// Reads what ``stored`` wrote, perhaps in another release; of what is not known nothing is taken. `nil` for what is no such
    /// text.
    package init?(stored text: String) {
        guard case .object(let object)? = try? JSONValue(parsing: Array(text.utf8)) else { return nil }
        self.init()
        for (name, counts) in Self.rows(object["e"]) {
            var row = Acceptances()
            (row.accepted, row.duplicate) = (counts.at(0), counts.at(1))
            events[EventType(name)] = row
        }
        for (name, counts) in Self.rows(object["r"]) {
            let parts = name.split(separator: " ", maxSplits: 1)
            guard parts.count == 2, let module = Module(rawValue: String(parts[0])) else { continue }
            var row = Recipients()
            (row.notified, row.noDevice, row.intercepted) = (counts.at(0), counts.at(1), counts.at(2))
            for (index, level) in ToggleLevel.allCases.enumerated() { row.suppressed[level] = counts.at(3 + index) }
            recipients[Subject(type: EventType(String(parts[1])), module: module)] = row
        }
        for (name, counts) in Self.rows(object["d"]) {
            guard let provider = ProviderName(rawValue: name) else { continue }
            var row = Deliveries()
            (row.delivered, row.unregistered, row.expired) = (counts.at(0), counts.at(1), counts.at(2))
            (row.dead, row.retries) = (counts.at(3), counts.at(4))
            deliveries[provider] = row
        }
        for (route, counts) in Self.rows(object["p"]) {
            var row = Posts()
            (row.all, row.refused) = (counts.at(0), counts.at(1))
            posts[route] = row
        }
        let pairs = object["l"].elements.map(Self.numbers).map { ($0.at(0), $0.at(1)) }
        latency = LatencyHistogram(counts: Dictionary(pairs, uniquingKeysWith: +))
    }

    private static func rows(_ value: JSONValue?) -> [(String, [Int])] {
        (value?.object?.members ?? []).map { ($0.key, numbers($0.value)) }
    }

    private static func numbers(_ value: JSONValue) -> [Int] { (value.list ?? []).map { $0.wholeNumber ?? 0 } }
}

extension [Int] {
    fileprivate func at(_ index: Int) -> Int { index < count ? self[index] : 0 }
}
